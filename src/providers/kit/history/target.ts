import type { Content, MediaContent, ServiceToolContent, ThinkingContent, ToolCallContent } from '../../../contract/message/content.ts'
import type { AssistantMessage, Message } from '../../../contract/message/message.ts'
import type { ApiProtocol, ModelConfig } from '../../../contract/model/model-config.ts'
import type { ModelProfile } from '../capabilities/capabilities.ts'
import { leftOutLines, type MediaRules } from '../optional/media/media-rules.ts'
import { legalIds } from './hash.ts'

/**
 * Describes the input that a codec accepts for a model. Keep one object per model, because results are cached per target. Messages and
 * targets must not change.
 */
export interface NormaliseTarget {
  readonly api: ApiProtocol
  readonly provider: string
  readonly model: string
  /** Media that the model accepts. A line of text replaces other media. */
  readonly media: MediaRules
  /** Maps an id of another provider or model to a valid one. Different ids stay different. See `legalId`. */
  readonly toolCallId: (id: string) => string
  /** Returns whether a thinking block of the same model can be sent back. */
  readonly keepsThinking: (block: ThinkingContent) => boolean
  /** Returns whether the model accepts a media block that it generated. Default: all. */
  readonly takesBack?: (block: MediaContent) => boolean
  /**
   * Returns whether the provider still knows a tool that it ran. Results of unknown tools are described as text. Default: it knows all
   * tools.
   */
  readonly knowsTool?: ((block: ServiceToolContent) => boolean) | undefined
  /** Whether the provider rejects two calls with the same id even if it issued both. Default: false. */
  readonly uniqueIds?: boolean
  /** Whether the provider continues a paused response that is the last message. */
  readonly pauses?: boolean
}

/** Returns the media that a model accepts, from its profile. */
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
 * Returns whether `target` accepts `message` unchanged: text, or a response from the same model. This check is cheap and covers most
 * messages. `cleanMessage` handles all others, and may also return them unchanged.
 */
export function isTakenAsIs(message: Message, target: NormaliseTarget): boolean {
  const { role, content } = message
  const isOwn = role === 'assistant'
  if (isOwn) {
    const { stopReason, refusal } = message
    if (!isAuthor(message, target) || refusal !== undefined || stopReason === 'error' || stopReason === 'aborted') return false
    // A response must not end with thinking.
    if (content.at(-1)?.type === 'thinking') return false
  }
  for (const block of content) if (!isPlain(block, target, isOwn)) return false
  return content.length > 0
}

function isPlain(block: Content, target: NormaliseTarget, isOwn: boolean): boolean {
  const { type, providerState } = block
  if (providerState !== undefined && !(isOwn && isStateOf(block, target))) return false
  // Let `cleanMessage` handle a placeholder line for media, because it adds a warning.
  if (type === 'text') return block.text.trim() !== '' && !leftOutLines.has(block)
  if (type === 'toolCall') return isOwn && block.id !== '' && block.invalidArguments === undefined
  return type === 'thinking' && isOwn && target.keepsThinking(block)
}

/** Returns whether `target` generated this response. */
export function isAuthor({ provider, model }: AssistantMessage, target: NormaliseTarget): boolean {
  return provider === target.provider && model === target.model
}

/** Returns whether `target` issued the id of `call`. Such ids stay unchanged, because providers keep state in them. */
export function issuedId(call: ToolCallContent, message: AssistantMessage, target: NormaliseTarget): boolean {
  return call.id !== '' && isAuthor(message, target) && isStateOf(call, target)
}

/** Returns whether a block's state, if any, belongs to `target`. */
export function isStateOf({ providerState }: Content, { api, model }: NormaliseTarget): boolean {
  return providerState === undefined || (providerState.api === api && providerState.model === model)
}
