import type { Content, MediaContent, ServiceToolContent, ThinkingContent, ToolCallContent } from '../../../contract/message/content.ts'
import type { AssistantMessage, Message } from '../../../contract/message/message.ts'
import type { ApiProtocol, ModelConfig } from '../../../contract/model/model-config.ts'
import type { ModelProfile } from '../capabilities/capabilities.ts'
import { leftOutLines, type MediaRules } from '../optional/media/media-rules.ts'
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
  return { ...capabilities, files, fetches, citesText, inline }
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

/**
 * Whether `target` takes `message`, looked at alone, as it is: text, and what its own model said before. It is a cheap look at what most messages are; what it
 * says no to is left to `cleanMessage`, which may find that nothing has to change.
 */
export function isTakenAsIs(message: Message, target: NormaliseTarget): boolean {
  const { role, content } = message
  const isOwn = role === 'assistant'
  if (isOwn) {
    const { stopReason, refusal } = message
    if (!isAuthor(message, target) || refusal !== undefined || stopReason === 'error' || stopReason === 'aborted') return false
    // Reasoning must be followed by what it led to.
    if (content.at(-1)?.type === 'thinking') return false
  }
  for (const block of content) if (!isPlain(block, target, isOwn)) return false
  return content.length > 0
}

function isPlain(block: Content, target: NormaliseTarget, isOwn: boolean): boolean {
  const { type, providerState } = block
  if (providerState !== undefined && !(isOwn && isStateOf(block, target))) return false
  // A line that stands for media is told, too.
  if (type === 'text') return block.text.trim() !== '' && !leftOutLines.has(block)
  if (type === 'toolCall') return isOwn && block.id !== '' && block.invalidArguments === undefined
  return type === 'thinking' && isOwn && target.keepsThinking(block)
}

/** Whether `target` made this response. */
export function isAuthor({ provider, model }: AssistantMessage, target: NormaliseTarget): boolean {
  return provider === target.provider && model === target.model
}

/** Whether `target` issued the id of `call`, which then goes back as it came: services keep state in ids. */
export function issuedId(call: ToolCallContent, message: AssistantMessage, target: NormaliseTarget): boolean {
  return call.id !== '' && isAuthor(message, target) && isStateOf(call, target)
}

/** Whether the state of a block, if it has any, is of `target`. */
export function isStateOf({ providerState }: Content, { api, model }: NormaliseTarget): boolean {
  return providerState === undefined || (providerState.api === api && providerState.model === model)
}
