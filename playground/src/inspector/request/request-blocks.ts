import {
  type AnnotatedRequest,
  type BlockProvenance,
  diffTurnRequests,
  estimateTokens,
  messageTokens,
  type RequestDiff,
} from '../../../../src/context/index.ts'
import type { Message } from '../../../../src/index.ts'

/** A part of a request: where it came from, how long it is, and whether the request before began with it too. */
export interface RequestBlock {
  id: string
  number: number
  origin: string
  /** More of where it came from. */
  detail: string
  role: string
  text: string
  /** How it begins, without the number that goes before it where the agent can go back. */
  gist: string
  json: unknown
  /** Estimate. */
  tokens: number
  /** It stands at the same place of the request before: a cache can serve it. */
  isCommon: boolean
  /** The first that differs from the request before. */
  isBreak: boolean
}

/** The blocks of a request in the order in which services cache them: tools, system prompt, messages. */
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
      isCommon: head > 0,
      isBreak: broken,
    })
  }
  if (systemPrompt !== '') {
    const broken = diff?.firstChange?.part === 'systemPrompt'
    blocks.push({
      origin: 'systemPrompt',
      detail: '',
      role: 'system',
      text: systemPrompt,
      json: systemPrompt,
      tokens: estimateTokens(systemPrompt),
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

/** How far both requests are the same before their messages: 1 tools, 2 system prompt, 3 all of it. */
function headReach(diff: RequestDiff | undefined): number {
  if (diff === undefined) return 0
  const { part } = diff.firstChange ?? {}
  if (part === undefined || part === 'messages') return 3
  return part === 'systemPrompt' ? 1 : part === 'tools' || part === 'model' ? 0 : 2
}

function messageBlock(message: Message, origin: BlockProvenance = { kind: 'unknown' }) {
  return {
    ...originOf(origin, message),
    role: message.role,
    text: textOfMessage(message),
    json: message,
    tokens: messageTokens({ ...message, id: '' }),
  }
}

function originOf(origin: BlockProvenance, message: Message): { origin: string; detail: string } {
  if (origin.kind === 'loopTurn')
    return { origin: `loopTurn · ${origin.role}`, detail: `turn ${origin.turnIndex}, message ${origin.messageIndex}` }
  if (origin.kind === 'memoryTier') return { origin: `memoryTier · ${origin.tier}`, detail: origin.recordId }
  if (origin.kind === 'identityBlock') return { origin: `identityBlock · ${origin.name}`, detail: `order ${origin.order}` }
  if (origin.kind === 'unknown')
    return { origin: 'unknown', detail: message.role === 'user' ? 'a summary, or made by a hook' : 'made on the way' }
  return { origin: origin.kind, detail: '' }
}

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
