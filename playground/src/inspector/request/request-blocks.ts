import {
  type AnnotatedRequest,
  type BlockProvenance,
  diffTurnRequests,
  estimateTokens,
  messageTokens,
  type ProvenanceRole,
  type RequestDiff,
} from '../../../../src/context.ts'
import type { Message } from '../../../../src/index.ts'

/** A part of a request, with its origin, its length, and whether it is in the common prefix with the previous request. */
export interface RequestBlock {
  id: string
  number: number
  origin: string
  /** Details about its origin. */
  detail: string
  role: string
  text: string
  /** The beginning of its text, without the node number that precedes it if the agent can revert. */
  gist: string
  json: unknown
  /** An estimate. 0 if the block is not sent. */
  tokens: number
  /** Whether it is sent. A failed response stays in the history but is not sent. */
  isSent: boolean
  /** Whether it is at the same position in the previous request, so that a cache can serve it. */
  isCommon: boolean
  /** Whether it is the first block that differs from the previous request. */
  isBreak: boolean
}

/** A request's blocks in the order that provider caches use: tools, system prompt, messages. */
export function blocksOf(request: AnnotatedRequest, previous: AnnotatedRequest | undefined): RequestBlock[] {
  const diff = previous && diffTurnRequests(previous, request)
  const { systemPrompt, tools, messages, provenance } = request
  const head = headReach(diff)
  const blocks: Omit<RequestBlock, 'number' | 'id' | 'gist'>[] = []
  if (tools.length > 0) {
    const text = tools.map(({ name }) => name).join(', ')
    const broken = diff?.firstChange?.part === 'tools'
    blocks.push({
      origin: 'tools',
      detail: `${tools.length} tools`,
      role: 'tools',
      text,
      json: tools,
      tokens: estimateTokens(JSON.stringify(tools)),
      isSent: true,
      isCommon: head > 0,
      isBreak: broken,
    })
  }
  if (systemPrompt !== '') {
    const broken = diff?.firstChange?.part === 'systemPrompt'
    blocks.push({
      origin: 'system prompt',
      detail: '',
      role: 'system',
      text: systemPrompt,
      json: systemPrompt,
      tokens: estimateTokens(systemPrompt),
      isSent: true,
      isCommon: head > 1,
      isBreak: broken,
    })
  }
  messages.forEach((message, at) => {
    const isCommon = diff !== undefined && head > 2 && at < diff.commonMessages
    const isBreak = diff?.firstChange?.part === 'messages' && at === diff.commonMessages
    blocks.push({ ...messageBlock(message, provenance[at]), isCommon, isBreak })
  })
  return blocks.map((block, number) => ({ ...block, number, id: `${number} ${block.origin}`, gist: gistOf(block.text) }))
}

/** Returns how far two requests are identical before their messages: 1 for tools, 2 for the system prompt, 3 for everything. */
function headReach(diff: RequestDiff | undefined): number {
  if (diff === undefined) return 0
  const { part } = diff.firstChange ?? {}
  if (part === undefined || part === 'messages') return 3
  return part === 'systemPrompt' ? 1 : part === 'tools' || part === 'model' ? 0 : 2
}

function messageBlock(message: Message, origin: BlockProvenance = { kind: 'unknown' }) {
  const isSent = message.role !== 'assistant' || message.stopReason !== 'error'
  const failed = { origin: 'failed response', detail: 'not sent: the next request omits it' }
  return {
    ...(isSent ? originOf(origin, message) : failed),
    role: message.role,
    text: textOfMessage(message),
    json: message,
    isSent,
    tokens: isSent ? messageTokens({ ...message, id: '' }) : 0,
  }
}

/** Describes a block's origin. */
export function originOf(origin: BlockProvenance, message: Pick<Message, 'role'>): { origin: string; detail: string } {
  switch (origin.kind) {
    case 'loopTurn':
      return { origin: roles[origin.role], detail: `turn ${origin.turnIndex}, message ${origin.messageIndex}` }
    case 'memoryTier':
      return { origin: `memory · ${origin.tier}`, detail: origin.recordId }
    case 'identityBlock':
      return { origin: `identity · ${origin.name}`, detail: `order ${origin.order}` }
    case 'background':
      return { origin: 'report', detail: `${origin.toolName}, in the background` }
    case 'runtime':
      return message.role === 'assistant'
        ? { origin: 'summary', detail: 'written by the SDK, in the place of what is not sent any more' }
        : { origin: 'marker', detail: 'written by the SDK: something is not sent here, or a limit was reached' }
    case 'unknown':
      return { origin: 'added', detail: 'by a hook, or handed in without its turns' }
    default:
      return { origin: kinds[origin.kind], detail: '' }
  }
}

const roles: Record<ProvenanceRole, string> = {
  userMessage: 'question',
  assistantResponse: 'answer',
  toolCallRequest: 'tool call',
  toolCallResult: 'tool result',
}
const kinds = { systemPrompt: 'system prompt', steering: 'steering', followUp: 'follow-up' } as const

function textOfMessage({ content }: Message): string {
  const parts = content.map((block) => {
    if (block.type === 'text') return block.text
    if (block.type === 'thinking') return `(thinking) ${block.thinking}`
    if (block.type === 'image' || block.type === 'file') return `(${block.type} ${block.mimeType})`
    if (block.type !== 'toolCall') return `(${block.type})`
    return `${block.name}(${JSON.stringify(block.arguments)})`
  })
  return parts.join('\n')
}

function gistOf(text: string): string {
  return text
    .slice(0, 300)
    .replace(/^<<\w{8} \[(n\d+)\] \w{8}>>\s*/, '')
    .slice(0, 200)
}
