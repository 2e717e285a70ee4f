import { interrupted, mediaName, serviceToolText, wordsOf } from '../../../contract/message/block-words.ts'
import {
  type Content,
  isMedia,
  type MediaContent,
  type ServiceToolContent,
  type TextContent,
  type ThinkingContent,
  type ToolCallContent,
} from '../../../contract/message/content.ts'
import {
  type AssistantMessage,
  type Message,
  shownContent,
  type ToolResultMessage,
  text,
  type UserMessage,
} from '../../../contract/message/message.ts'
import type { ApiProtocol, ModelConfig } from '../../../contract/model/model-config.ts'
import type { ModelProfile } from '../capabilities/capabilities.ts'
import { perObject } from '../encode/json-pieces.ts'
import { leftOutAt, leftOutFor, type MediaRules, takenMedia } from '../optional/media/media-rules.ts'
import { legalIds } from './hash.ts'

/**
 * What a codec accepts. Keep one object per model: what is known about messages is remembered per target, and messages and targets must
 * not change.
 */
export interface NormaliseTarget {
  readonly api: ApiProtocol
  readonly provider: string
  readonly model: string
  /** What media the model takes; a line of text stands for others. */
  readonly media: MediaRules
  /** Maps an id of another service or model onto a legal one; different ids must stay different. See `legalId`. */
  readonly toolCallId: (id: string) => string
  /** Whether a thinking block of this very model can be sent back. */
  readonly keepsThinking: (block: ThinkingContent) => boolean
  /** Whether the model takes media back that it made. Default: it takes all. */
  readonly takesBack?: (block: MediaContent) => boolean
  /** Whether the service still knows a tool that it ran: what it did with another is told in words. Default: it knows all. */
  readonly knowsTool?: ((block: ServiceToolContent) => boolean) | undefined
  /** The service refuses a history in which two calls have one id, also where it gave both. Default: it takes what it gave. */
  readonly uniqueIds?: boolean
  /** The service goes on with an answer that it paused, where that is the end of a history. */
  readonly pauses?: boolean
}

/** What media a model takes, as its profile says it. */
export function mediaRules({ capabilities, files, fetches, citesText, inline }: ModelProfile): MediaRules {
  if (files === undefined && fetches === undefined && citesText === undefined && inline === undefined) return capabilities
  return { ...capabilities, ...(files !== undefined && { files }), fetches, citesText, inline }
}

/** The target that `model` is, with its profile. */
export function targetOf(
  { api, provider, id }: ModelConfig,
  profile: ModelProfile,
  keepsThinking: NormaliseTarget['keepsThinking'],
  knowsTool?: NormaliseTarget['knowsTool'],
): NormaliseTarget {
  const { callIds, pauses = false } = profile
  return {
    api,
    provider,
    model: id,
    media: mediaRules(profile),
    toolCallId: legalIds[callIds],
    uniqueIds: callIds === 'word64',
    keepsThinking,
    knowsTool,
    pauses,
  }
}

/** The copies that were made for a target, so that each is found again by identity. */
const copies = perObject((_target: NormaliseTarget) => new WeakMap<Message, Message>())

const noOutput: TextContent = { type: 'text', text: '(no tool output)' }
const noText: TextContent = { type: 'text', text: '(empty message)' }

/**
 * `message` as `target` accepts it, looked at alone: the same object when nothing had to change, else the same copy at each call; `undefined`
 * when nothing is left.
 */
export function cleanMessage(message: Message, target: NormaliseTarget): Message | undefined {
  const cleaned = cleaning(message, target)
  if (cleaned === message || cleaned === undefined) return cleaned
  const known = copies(target)
  const before = known.get(message)
  if (before === undefined) known.set(message, cleaned)
  return before ?? cleaned
}

function cleaning(message: Message, target: NormaliseTarget): Message | undefined {
  if (message.role === 'user') return cleanUser(message, target)
  if (message.role === 'toolResult') return cleanResult(message, target)
  return cleanAssistant(message, target)
}

function cleanUser(message: UserMessage, target: NormaliseTarget): UserMessage {
  const content = shown(message.content, target, noText)
  return content === message.content ? message : { ...message, content }
}

function cleanResult(message: ToolResultMessage, target: NormaliseTarget): ToolResultMessage {
  const content = shown(message.content, target, noOutput)
  // Its id follows the call: see `HistoryWalk`.
  return content === message.content ? message : { ...message, content }
}

/** Text and images; `placeholder` where none is left. */
function shown(content: Content[], target: NormaliseTarget, placeholder: TextContent): Content[] {
  const kept = mapBlocks(content, (block) => {
    if (isMedia(block)) return takenMedia(block, target.media, target.api, content)
    return block.type === 'text' && block.text.trim() !== '' ? withoutForeignState(block, target, false) : undefined
  })
  return kept.length === 0 ? [placeholder] : kept
}

/** A failed answer may hold half a block, which services refuse, so it is left out whole. */
function cleanAssistant(message: AssistantMessage, target: NormaliseTarget): AssistantMessage | undefined {
  if (message.stopReason === 'error' || message.stopReason === 'aborted') return undefined
  const isOwn = isAuthor(message, target)
  const mayBeOpen = message.stopReason === 'paused' || message.stopReason === 'toolUse'
  const said = shownContent(message)
  const isUncited = said.some((block) => block.type === 'serviceTool' && target.knowsTool?.(block) === false)
  let content = mapBlocks(said, (block) => {
    // What the service never said anything more of is not to be asked for again.
    if (!mayBeOpen && isUnended(block)) return undefined
    // What the text rests on, as the service says it, does not go back.
    const isBare = isUncited && block.type === 'text' && block.providerState !== undefined
    return cleanAssistantBlock(isBare ? withoutState(block) : block, target, isOwn)
  })
  // Reasoning must be followed by what it led to.
  const end = content.findLastIndex((block) => block.type !== 'thinking') + 1
  if (end < content.length) content = content.slice(0, end)
  if (content.length === 0) {
    const words = message.content.map(wordsOf).find((each) => each !== undefined)
    return words === undefined ? undefined : { ...message, content: [text(words)] }
  }
  return content === message.content ? message : { ...message, content }
}

function cleanAssistantBlock(block: Content, target: NormaliseTarget, isOwn: boolean): Content | undefined {
  const goesBack = isOwn && isStateOf(block, target)
  switch (block.type) {
    case 'thinking':
      return goesBack && target.keepsThinking(block) ? block : undefined
    // What has no state of its service follows in a user message: see `picturesOf`.
    case 'image':
    case 'file':
      if (!goesBack || block.providerState === undefined) return undefined
      return target.takesBack?.(block) === false ? leftOutFor(block, `this model does not take ${mediaName(block)}`) : block
    case 'serviceTool':
      return goesBack && block.providerState !== undefined && target.knowsTool?.(block) !== false ? block : text(serviceToolText(block))
    case 'opaque':
      return goesBack ? block : undefined
    case 'toolCall':
      return legalCall(withoutForeignState(block, target, isOwn), target, goesBack)
    case 'text': {
      const cleaned = withoutForeignState(block, target, isOwn)
      return cleaned.text.trim() !== '' || cleaned.providerState !== undefined ? cleaned : undefined
    }
  }
}

/** A tool of the service of which nothing came. */
function isUnended(block: Content): boolean {
  return block.type === 'serviceTool' && (block.status === 'running' || block.error?.code === interrupted)
}

const shownBefore: TextContent = { type: 'text', text: '(What the answer above showed:)' }

/** Media of an answer that its service does not take back from a model, as a user message: the next model should see them too. */
export function picturesOf({ content }: AssistantMessage, cleaned: AssistantMessage): UserMessage | undefined {
  const media = content.filter((block) => isMedia(block) && !cleaned.content.includes(block))
  const shown = media.filter((block) => !cleaned.content.some((each) => leftOutAt(each)?.block === block))
  return shown.length === 0 ? undefined : { role: 'user', content: [shownBefore, ...shown], timestamp: 0 }
}

/** Whether `target` made this response. */
function isAuthor({ provider, model }: AssistantMessage, target: NormaliseTarget): boolean {
  return provider === target.provider && model === target.model
}

/** Whether `target` issued the id of `call`, which then goes back as it came: services keep state in ids. */
export function issuedId(call: ToolCallContent, message: AssistantMessage, target: NormaliseTarget): boolean {
  return call.id !== '' && isAuthor(message, target) && isStateOf(call, target)
}

function legalCall(call: ToolCallContent, target: NormaliseTarget, isIssued: boolean): ToolCallContent {
  const id = isIssued && call.id !== '' ? call.id : target.toolCallId(call.id)
  const hasForgedArguments = call.invalidArguments !== undefined && Object.keys(call.arguments).length > 0
  if (id === call.id && !hasForgedArguments) return call
  return { ...call, id, arguments: call.invalidArguments === undefined ? call.arguments : {} }
}

function isStateOf(block: Content, { api, model }: NormaliseTarget): boolean {
  return block.providerState === undefined || (block.providerState.api === api && block.providerState.model === model)
}

function withoutForeignState<Block extends TextContent | ToolCallContent>(block: Block, target: NormaliseTarget, isOwn: boolean): Block {
  const state = block.providerState
  if (state === undefined || (isOwn && state.api === target.api && state.model === target.model)) return block
  return withoutState(block)
}

function withoutState<Block extends TextContent | ToolCallContent>(block: Block): Block {
  const bare = { ...block }
  delete bare.providerState
  return bare
}

/** `content` with each block replaced by `change` (`undefined` drops it); the same array when nothing changed. */
function mapBlocks(content: Content[], change: (block: Content) => Content | undefined): Content[] {
  let changed: Content[] | undefined
  let at = 0
  for (const block of content) {
    const next = change(block)
    if (next !== block) changed ??= content.slice(0, at)
    if (changed !== undefined && next !== undefined) changed.push(next)
    at += 1
  }
  return changed ?? content
}
