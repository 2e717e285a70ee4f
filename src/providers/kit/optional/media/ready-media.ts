import type { ProviderError } from '../../../../contract/errors.ts'
import type { Content, MediaContent, TextContent } from '../../../../contract/message/content.ts'
import type { Message } from '../../../../contract/message/message.ts'
import type { ApiProtocol, ModelConfig } from '../../../../contract/model/model-config.ts'
import type { MediaWithBytes, StreamRequest } from '../../../../types/model/provider.ts'
import { checkedMedia } from './media-checks.ts'
import { kit } from './media-facts.ts'
import type { LeftOut, MediaRules } from './media-rules.ts'

/** Protocol and model capabilities that determine media handling. */
export interface MediaTarget {
  api: ApiProtocol
  codec: { media?(model: ModelConfig): MediaRules }
}

/** Maximum concurrent fetches. */
const maxFetches = 4
/** Maximum characters of a fetch error. */
const maxReason = 500

/**
 * Prepares the media of `request` before it is encoded.
 *
 * **Contract**
 * - `resolveMedia` fetches media in user messages and results if the model accepts them and the provider does not fetch them. It also reads
 *   media in the session store. If it rejects, a line with the reason replaces the media.
 * - A line also replaces an uploaded file that has expired. If the file was added after the last response, the call fails instead, because
 *   the sender can upload the file again.
 * - Throws or rejects with `ProviderError` `unsupportedMedia` if `requireMedia` is set and a block would be dropped. The error names the
 *   block, the model and the accepted media. Always sends back media from the provider's own responses.
 * - Also drops media that the provider rejected before, or would reject: see `checkedMedia`.
 * - Returns the same object if nothing is replaced, and a promise only if media must be fetched. Messages are the same objects at each
 *   call.
 */
export function readyMedia(request: StreamRequest, target: MediaTarget): StreamRequest | Promise<StreamRequest> {
  const { model, messages, resolveMedia, requireMedia } = request
  const placeholders = forgotten(request)
  const ready = placeholders === undefined ? request : { ...request, messages: replaced(messages, placeholders) }
  const mayFetch = resolveMedia !== undefined && messages.some((message) => mediaOf(message).some(({ url, blob }) => url ?? blob))
  const rules = mayFetch || requireMedia === true ? target.codec.media?.(model) : undefined
  if (rules === undefined) return sendable(ready)
  const open = mayFetch ? unfetched(messages, rules, target.api) : []
  if (resolveMedia === undefined || open.length === 0) return checked(sendable(ready), rules, target)
  return fetchAll(open, resolveMedia).then((fetched) => {
    const found = new Map<Content, Content>([...(placeholders ?? []), ...fetched])
    return checked(sendable({ ...request, messages: replaced(messages, found) }), rules, target)
  })
}

/** Returns `request` without media that its provider rejected before, or would reject. */
function sendable(request: StreamRequest): StreamRequest {
  const found = checkedMedia(request)
  return found.size === 0 ? request : { ...request, messages: replaced(request.messages, found) }
}

/** Returns replacement lines for expired uploads. Throws if one of the uploads is new. */
function forgotten({ messages, model }: StreamRequest): ReadonlyMap<Content, TextContent> | undefined {
  let lines: Map<Content, TextContent> | undefined
  let isNew = true
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]
    if (message?.role === 'assistant') isNew = false
    else {
      for (const block of message === undefined ? [] : mediaOf(message)) {
        if (block.expiresAt === undefined || block.expiresAt > Date.now()) continue
        const reason = `${kit.mediaName(block)} expired at the provider at ${timeText(block.expiresAt)}`
        if (isNew)
          throw new kit.ProviderError('unsupportedMedia', `Cannot send ${nameOf(block)} to ${model.id}: ${reason}. Upload it again.`)
        lines ??= new Map()
        lines.set(block, kit.leftOutFor(block, reason))
      }
    }
  }
  return lines
}

function timeText(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? 'the past' : date.toISOString()
}

function nameOf(block: MediaContent): string {
  return `${block.type === 'image' ? 'The picture' : 'The file'} ${kit.mediaName(block)}`
}

function mediaOf({ content }: Message): readonly MediaContent[] {
  return content.filter(kit.isMedia)
}

/**
 * Returns the media to fetch or read, including text files that are sent as text and generated media that are sent back to their provider.
 */
function unfetched(messages: readonly Message[], rules: MediaRules, api: ApiProtocol): MediaContent[] {
  const open = messages.flatMap((message) =>
    mediaOf(message).filter(({ type, mimeType, url, blob, providerState }) => {
      if (!blob && (!url || message.role === 'assistant' || kit.isFetched(url, mimeType, rules))) return false
      return kit.isMediaOf(mimeType, rules.media) || (type === 'file' && kit.isTextType(mimeType)) || providerState?.api === api
    }),
  )
  return [...new Set(open)]
}

/** Resolves each block to a block with bytes, or to a line with the failure reason. Never rejects. */
async function fetchAll(
  blocks: readonly MediaContent[],
  resolve: MediaWithBytes,
): Promise<ReadonlyMap<Content, MediaContent | TextContent>> {
  const found = new Map<Content, MediaContent | TextContent>()
  const waiting = blocks.values()
  const work = async (): Promise<void> => {
    for (const block of waiting) {
      try {
        found.set(block, await resolve(block))
      } catch (error) {
        const from = block.blob ? 'read from its session' : 'fetched'
        found.set(block, kit.leftOutFor(block, `${kit.mediaName(block)} could not be ${from}: ${kit.errorText(error).slice(0, maxReason)}`))
      }
    }
  }
  await Promise.all(Array.from({ length: maxFetches }, work))
  return found
}

/** The latest copies, so that their encoded forms are reused. */
const copies = new WeakMap<Message, Message>()

/** Replaces blocks in `messages` with `found`. Returns the same copies if `found` is unchanged. */
export function replaced(messages: readonly Message[], found: ReadonlyMap<Content, Content>): readonly Message[] {
  return messages.map((message) => {
    if (!mediaOf(message).some((block) => found.has(block))) return message
    const content = message.content.map((block) => found.get(block) ?? block)
    const last = copies.get(message)
    if (last !== undefined && content.every((block, at) => block === last.content[at])) return last
    const copy: Message = { ...message, content }
    copies.set(message, copy)
    return copy
  })
}

function checked(request: StreamRequest, rules: MediaRules, { api }: MediaTarget): StreamRequest {
  const { model, requireMedia, messages } = request
  if (requireMedia !== true) return request
  for (const message of messages) {
    // Failed responses are not sent.
    if (message.role === 'assistant' && (message.stopReason === 'error' || message.stopReason === 'aborted')) continue
    for (const block of message.content) {
      const left = kit.isMedia(block) ? leftOutOf(block, request, { rules, api, others: message.content }) : kit.leftOutAt(block)
      if (left !== undefined) throw unsupported(left, model, rules)
    }
  }
  return request
}

function leftOutOf(
  block: MediaContent,
  { model }: StreamRequest,
  { rules, api, others }: { rules: MediaRules; api: ApiProtocol; others: readonly Content[] },
): LeftOut | undefined {
  if (block.providerState?.api === api && block.providerState.model === model.id) return undefined
  const reason = kit.whyLeftOut(block, rules, api, others)
  return reason === undefined ? undefined : { block, reason }
}

function unsupported({ block, reason }: LeftOut, model: ModelConfig, { media }: MediaRules): ProviderError {
  const taken = media.length === 0 ? 'text only' : `${media.join(', ')}, and text`
  const what = `Cannot send ${nameOf(block)} to ${model.id}: ${reason}.`
  const next = 'Use a model that accepts it, send it in another form, or omit requireMedia to send a text line in its place.'
  return new kit.ProviderError('unsupportedMedia', `${what} It takes ${taken}. ${next}`)
}
