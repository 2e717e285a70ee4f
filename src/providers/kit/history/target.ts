import type { Content, MediaContent, ServiceToolContent, ThinkingContent, ToolCallContent } from '../../../contract/message/content.ts'
import type { AssistantMessage, Message } from '../../../contract/message/message.ts'
import type { ApiProtocol, ModelConfig } from '../../../contract/model/model-config.ts'
import type { ModelProfile } from '../capabilities/capabilities.ts'
import { leftOutLines, type MediaRules } from '../optional/media/media-rules.ts'
import { legalIds } from './hash.ts'

/**
 * Describes what a codec accepts. Keep one object per model, because results are cached per target. Messages and targets must not change.
 */
export interface NormaliseTarget {
  readonly api: ApiProtocol
  readonly provider: string
  readonly model: string
  /** Media that the model accepts; other media become a line of text. */
  readonly media: MediaRules
  /** Maps an id of another provider or model to a valid one; different ids stay different. See `legalId`. */
  readonly toolCallId: (id: string) => string
  /** Returns whether a thinking block of the same model can be sent back. */
  readonly keepsThinking: (block: ThinkingContent) => boolean
  /** Whether the model accepts media that it generated. Default: all. */
  readonly takesBack?: (block: MediaContent) => boolean
  /** Whether the provider still knows a tool that it ran; the result of an unknown one is described in text. Default: it knows all. */
  readonly knowsTool?: ((block: ServiceToolContent) => boolean) | undefined
  /** The provider rejects two calls with one id, even if it issued both. Default: it accepts its own ids. */
  readonly uniqueIds?: boolean
  /** The provider continues a response that it paused, if it is the last message. */
  readonly pauses?: boolean
}

/** Media that a model accepts, from its profile. */
export function mediaRules({ capabilities, files, fetches, citesText, inline }: ModelProfile): MediaRules {
  return { ...capabilities, files, fetches, citesText, inline }
}

/** Returns the target of `model`, from its profile. */
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
 * Returns whether `target` accepts `message` alone and unchanged: text, and responses of its own model. A cheap check for most messages;
 * `cleanMessage` handles the others, and may find that nothing has to change.
 */
export function isTakenAsIs(message: Message, target: NormaliseTarget): boolean {
  const { role, content } = message
  const isOwn = role === 'assistant'
  if (isOwn) {
    const { stopReason, refusal } = message
    if (!isAuthor(message, target) || refusal !== undefined || stopReason === 'error' || stopReason === 'aborted') return false
    // Thinking must be followed by its result.
    if (content.at(-1)?.type === 'thinking') return false
  }
  for (const block of content) if (!isPlain(block, target, isOwn)) return false
  return content.length > 0
}

function isPlain(block: Content, target: NormaliseTarget, isOwn: boolean): boolean {
  const { type, providerState } = block
  if (providerState !== undefined && !(isOwn && isStateOf(block, target))) return false
  // A placeholder line for media causes a warning, too.
  if (type === 'text') return block.text.trim() !== '' && !leftOutLines.has(block)
  if (type === 'toolCall') return isOwn && block.id !== '' && block.invalidArguments === undefined
  return type === 'thinking' && isOwn && target.keepsThinking(block)
}

/** Returns whether `target` made this response. */
export function isAuthor({ provider, model }: AssistantMessage, target: NormaliseTarget): boolean {
  return provider === target.provider && model === target.model
}

/** Returns whether `target` issued the id of `call`. Such an id stays, because providers keep state in ids. */
export function issuedId(call: ToolCallContent, message: AssistantMessage, target: NormaliseTarget): boolean {
  return call.id !== '' && isAuthor(message, target) && isStateOf(call, target)
}

/** Returns whether the state of a block, if any, belongs to `target`. */
export function isStateOf({ providerState }: Content, { api, model }: NormaliseTarget): boolean {
  return providerState === undefined || (providerState.api === api && providerState.model === model)
}
