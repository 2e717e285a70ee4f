import type { ProviderError } from '../../../../contract/errors.ts'
import type { Content, MediaContent } from '../../../../contract/message/content.ts'
import type { AssistantMessage, RefusedMedia } from '../../../../contract/message/message.ts'
import type { StreamRequest } from '../../../../types/model/provider.ts'
import { checkNewMedia, isResponseOf } from './media-checks.ts'
import { factsOf, kit, type MediaKit, takeKit } from './media-facts.ts'
import { type MediaTarget, readyMedia, replaced } from './ready-media.ts'
import { isTooLarge, mediaRefusalIn } from './refusal-words.ts'

/** A rejection's message, and the body that was sent. */
export interface Refusal {
  body: unknown
  sent: () => string
}

/** A call whose request was rejected. */
export interface RefusedCall {
  request: StreamRequest
  target: MediaTarget
  /** Sends a request. Rejects with `ProviderError`. */
  ask: (request: StreamRequest) => Promise<AssistantMessage>
  /** The last rejection. */
  refusal: () => Refusal | undefined
  signal: AbortSignal
}

/** Maximum quoted characters of the provider's message. */
const maxReason = 300

/**
 * Retries a rejected request without the media that the rejection refers to, or without all media that no accepted request contained. If
 * the provider rejects the retry too, drops the remaining new media and retries again.
 *
 * **Contract**
 * - The response records the dropped media (`refusedMedia`), so that later requests omit them too.
 * - Rejects with `error` if it does not concern media or if there are no media to drop. Otherwise, rejects with the last request's error.
 */
export async function withoutRefusedMedia(call: RefusedCall, error: unknown): Promise<AssistantMessage> {
  const refused: RefusedMedia[] = []
  let request = call.request
  let last = error
  for (const mayName of [true, false]) {
    if (!mayAskAgain(call, last)) break
    request = await readyMedia(request, call.target)
    const lines = new Map<Content, Content>()
    for (const block of refusedBlocks(call, request, last, mayName)) {
      const reason = `the provider rejected ${kit.mediaName(block)}: ${kit.shortened(last.message, maxReason).replace(/\.$/, '')}`
      lines.set(block, kit.leftOutFor(block, reason))
      refused.push({ key: factsOf(block).key, reason })
    }
    if (lines.size === 0) break
    request = { ...request, messages: replaced(request.messages, lines) }
    try {
      const message = await call.ask(request)
      message.refusedMedia = [...(message.refusedMedia ?? []), ...refused]
      return message
    } catch (thrown) {
      last = thrown
    }
  }
  throw last
}

/** Returns whether `error` is a rejection of a request that emitted nothing and does not require its media. */
function mayAskAgain({ request, signal }: RefusedCall, error: unknown): error is ProviderError {
  if (!kit.ProviderError.isInstance(error) || signal.aborted || request.requireMedia === true || request.keepsMedia === true) return false
  // If the whole request is too long, the context is compacted instead.
  if (error.code !== 'api' && !(error.code === 'contextOverflow' && isTooLarge(error))) return false
  return error.partial === undefined || error.partial === request.continues || error.partial.content.length === 0
}

function refusedBlocks(call: RefusedCall, { messages, model }: StreamRequest, error: ProviderError, mayName: boolean): MediaContent[] {
  const { body, sent } = call.refusal() ?? { body: undefined, sent: () => '' }
  const facts = kit.readErrorFacts(body, undefined)
  const refusal = mediaRefusalIn(facts, error)
  const given = messages.flatMap(({ content }) => content.filter(kit.isMedia))
  if (refusal === undefined || given.length === 0) return []
  const named = mayName ? namedBlocks(refusal.places, `${facts.text} ${facts.param ?? ''}`, given, sent) : []
  if (named.length > 0) return named
  if (!refusal.mayBeAny || (isTooLarge(error) && !isMostly(given, sent()))) return []
  const accepted = messages.findLastIndex((message) => isResponseOf(model, message))
  // The last response may contain media, which this request sent for the first time.
  const unaccepted = messages.slice(Math.max(0, accepted)).flatMap(({ content }) => content.filter(kit.isMedia))
  if (unaccepted.length > 0 || isTooLarge(error)) return unaccepted
  // The provider accepted all media before, but a URL's target may no longer exist.
  const byAddress = given.filter(({ url }) => url !== undefined)
  return byAddress.length > 0 ? byAddress : given
}

/** Returns whether media make up more than half of a body. */
function isMostly(media: readonly MediaContent[], body: string): boolean {
  return media.reduce((sum, { data = '' }) => sum + data.length, 0) > body.length / 2
}

/** Returns the media at the first path that contains media, otherwise the media whose URL, id or name the provider quotes. */
function namedBlocks(places: readonly string[], text: string, given: readonly MediaContent[], sent: () => string): MediaContent[] {
  const body = places.length === 0 ? undefined : kit.parsedJson(sent())
  for (const place of places) {
    const texts = textsIn(valueAt(body, place))
    const found = given.filter(({ data, url, fileId }) => texts.some((each) => isData(each, data) || each === url || each === fileId))
    if (found.length > 0) return found
  }
  return given.filter((block) => {
    const name = block.type === 'file' ? block.name : undefined
    return [block.url, block.fileId, name].some((each) => each !== undefined && isQuoted(each, text))
  })
}

function isData(text: string, data: string | undefined): boolean {
  return data !== undefined && data !== '' && (text === data || text.endsWith(`,${data}`))
}

/** Returns whether `text` contains `name` as a whole word, because a file may be called `a`. */
function isQuoted(name: string, text: string): boolean {
  const at = text.indexOf(name)
  return name.length > 3 && at >= 0 && !/\w/.test(`${text[at - 1] ?? ''}${text[at + name.length] ?? ''}`)
}

/** Returns the value at `place`. Skips steps that only specify the block kind. */
function valueAt(body: unknown, place: string): unknown {
  let value = body
  for (const [step] of place.matchAll(/\w+/g)) {
    const next: unknown = Object(value)[step]
    if (typeof next === 'object' && next !== null) value = next
  }
  return value
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Functions for requests with images and files. */
export interface MediaPart {
  readyMedia: typeof readyMedia
  checkNewMedia: typeof checkNewMedia
  withoutRefusedMedia: typeof withoutRefusedMedia
}

/** Creates the media part, which uses the functions in `kit`. */
export function mediaPartOf(kit: MediaKit): MediaPart {
  takeKit(kit)
  return { readyMedia, checkNewMedia, withoutRefusedMedia }
}
