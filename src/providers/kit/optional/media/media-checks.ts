import type { Content, MediaContent } from '../../../../contract/message/content.ts'
import type { AssistantMessage, Message } from '../../../../contract/message/message.ts'
import type { ModelConfig } from '../../../../contract/model/model-config.ts'
import type { StreamRequest } from '../../../../types/model/provider.ts'
import { factsOf, kit } from './media-facts.ts'
import { type MediaLimits, mediaLimits } from './media-limits.ts'

/**
 * Returns replacements, by block, for media that the provider of `model` would reject.
 *
 * **Contract**
 * - A text line replaces media that the same model rejected before, truncated images, and media over a documented limit.
 * - An image with a wrong media type gets the type of its bytes.
 * - Replaces media that the model generated only if the provider rejected them.
 */
export function checkedMedia({ messages, model, refusals = [] }: StreamRequest): ReadonlyMap<Content, Content> {
  const found = new Map<Content, Content>()
  const given = messages.flatMap((message) => (isMadeBy(model, message) ? [] : message.content.filter(kit.isMedia)))
  const limits = limitsFor(given, model)
  for (const block of given) {
    const fault = faultOf(block, limits)
    const instead = fault === undefined ? factsOf(block).labelled : kit.leftOutFor(block, fault)
    if (instead !== block) found.set(block, instead)
  }
  const refused = refusedBefore([...refusals, ...messages], model)
  const looked = refused.size === 0 ? [] : messages.flatMap(({ content }) => content.filter(kit.isMedia))
  for (const block of looked) {
    const reason = refused.get(factsOf(block).key)
    if (reason !== undefined) found.set(block, kit.leftOutFor(block, reason))
  }
  return found
}

/** Throws `ProviderError` `unsupportedMedia` if the provider of `model` would reject one of a new message's `media`. */
export function checkNewMedia(media: readonly MediaContent[], model: ModelConfig): void {
  const limits = limitsFor(media, model)
  for (const block of media) {
    const fault = faultOf(block, limits)
    if (fault === undefined) continue
    const what = block.type === 'image' ? 'the image' : 'the file'
    throw new kit.ProviderError(
      'unsupportedMedia',
      `Cannot send ${what} to ${model.id}: ${fault}. The message was not added to the history.`,
    )
  }
  checkTogether(media, limits, model)
}

/** Throws if `media` exceed the limit of one request together, although each of them is allowed. */
function checkTogether(media: readonly MediaContent[], { inlineChars }: MediaLimits, model: ModelConfig): void {
  const chars = media.reduce((sum, { data }) => sum + (data?.length ?? 0), 0)
  if (!isOver(chars, inlineChars)) return
  throw new kit.ProviderError(
    'unsupportedMedia',
    `Cannot send the files of this message to ${model.id}: they have ${chars} base64 characters, but its provider accepts ${inlineChars} per request. Upload the files or pass their URLs. The message was not added to the history.`,
  )
}

function isMadeBy({ provider, id }: ModelConfig, message: Message): message is AssistantMessage {
  return message.role === 'assistant' && message.provider === provider && message.model === id
}

/** Returns whether `message` is a complete response of `model`. */
export function isResponseOf(model: ModelConfig, message: Message): message is AssistantMessage {
  return isMadeBy(model, message) && message.stopReason !== 'error' && message.stopReason !== 'aborted'
}

/** Returns the reasons why the model rejected media before, by media key. */
function refusedBefore(messages: readonly Message[], model: ModelConfig): ReadonlyMap<string, string> {
  const refused = new Map<string, string>()
  for (const message of messages) {
    if (!isResponseOf(model, message)) continue
    for (const { key, reason } of message.refusedMedia ?? []) refused.set(key, reason)
  }
  return refused
}

/** Returns the limits for a request with `media`. */
function limitsFor(media: readonly MediaContent[], model: ModelConfig): MediaLimits {
  const limits = mediaLimits(model)
  const { manyImages } = limits
  const isMany = manyImages !== undefined && media.filter(({ type }) => type === 'image').length > manyImages.above
  return isMany ? { ...limits, imageSide: manyImages.imageSide } : limits
}

/** Returns why a provider with `limits` would reject `block`, with advice, or `undefined` if the block is accepted. */
function faultOf(block: MediaContent, limits: MediaLimits): string | undefined {
  if (block.data === undefined) return undefined
  const { length } = block.data
  const { inlineChars } = limits
  if (isOver(length, inlineChars))
    return `${kit.mediaName(block)} has ${length} base64 characters, but its provider accepts ${inlineChars} per request. Upload it or pass its URL`
  if (block.type === 'image') return imageFault(block, limits)
  return kit.baseType(block.mimeType) === 'application/pdf' ? pdfFault(block, limits) : undefined
}

function imageFault(block: MediaContent, { imageBytes, imageSide, imagePixels }: MediaLimits): string | undefined {
  const what = kit.mediaName(block)
  const { size, isCut } = factsOf(block).picture
  const bytes = kit.mediaBytes(block)
  if (isCut) return `${what} is truncated. Send the complete image`
  if (isOver(bytes, imageBytes)) return `${what} has ${bytes} bytes, but its provider accepts ${imageBytes}. Scale it down or compress it`
  if (size === undefined) return undefined
  const { width, height } = size
  const has = `${what} has ${width} x ${height} pixels, but its provider accepts`
  if (isOver(Math.max(width, height), imageSide)) return `${has} ${imageSide} per side in this request. Scale it down`
  return isOver(width * height, imagePixels) ? `${has} ${imagePixels} in total. Scale it down` : undefined
}

function pdfFault(block: MediaContent, { pdfPages: mostPages, pdfBytes }: MediaLimits): string | undefined {
  const what = kit.mediaName(block)
  const bytes = kit.mediaBytes(block)
  if (isOver(bytes, pdfBytes)) return `${what} has ${bytes} bytes, but its provider accepts ${pdfBytes}. Send only the relevant pages`
  const pages = mostPages === undefined ? 0 : factsOf(block).pages
  return isOver(pages, mostPages)
    ? `${what} has ${pages} pages, but its model accepts ${mostPages}. Send only the relevant pages`
    : undefined
}

function isOver(value: number, limit: number | undefined): boolean {
  return limit !== undefined && value > limit
}
