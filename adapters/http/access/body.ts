import type { Context } from 'hono'
import { parsedJson } from '../../../src/base/json/json-value.ts'
import { shortened } from '../../../src/base/text/characters.ts'
import { startTimer } from '../../../src/base/timer.ts'
import { fieldIn, isJsonObject } from '../../../src/contract/json.ts'
import { nearest } from '../../../src/contract/shape/nearest-name.ts'
import type { JsonObject, JsonValue } from '../../../src/index.ts'
import { LastOfList } from './last-of-list.ts'
import { ProblemError, refuse } from './problem.ts'

/** What a body may cost. */
export interface BodyLimits {
  /** Bytes. */
  maxBytes: number
  /** Milliseconds until it must be there. */
  timeoutMs: number
}

/**
 * Refuses with 415 what is not sent as `application/json`, which a foreign web page cannot do without asking first, and what is compressed: it
 * could be longer than its limit.
 */
export function assertJson({ headers }: Request): void {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') refuse(415, 'unsupportedMediaType', 'Send the body as content-type: application/json.')
  assertUncompressed(headers)
}

/** Refuses with 415 what is compressed. */
export function assertUncompressed(headers: Headers): void {
  if ((headers.get('content-encoding') ?? 'identity') !== 'identity')
    refuse(415, 'unsupportedMediaType', 'The body is compressed. Send it as it is.')
}

/** The JSON object that a request brings; who asks `c.req` for it gets it too. Refuses with 415, 413, 408 and 400. */
export async function readJsonObject(c: Context, limits: BodyLimits): Promise<JsonObject> {
  assertJson(c.req.raw)
  return parseObject(await readSharedText(c, limits))
}

/** As {@link readJsonObject}, for a body of our own protocol: refuses keys other than `names` with 400 `invalidBody`, and says which one is meant. */
export async function readOwnBody(c: Context, limits: BodyLimits, names: readonly string[]): Promise<JsonObject> {
  const body = await readJsonObject(c, limits)
  const unknown = Object.keys(body).find((name) => !names.includes(name))
  if (unknown === undefined) return body
  refuse(
    400,
    'invalidBody',
    `The body has the key ${JSON.stringify(shortened(unknown, 60))}, which this route does not know. ${nearest(unknown, names)}`,
  )
}

/** As `readText`, for a body that others want too: who asks `c.req` for it before or afterwards gets it. */
export async function readSharedText(c: Context, limits: BodyLimits): Promise<string> {
  const request = c.req.raw
  if (request.bodyUsed) return within(await c.req.text(), limits)
  const text = await readText(request, limits)
  if (request.body !== null) c.req.raw = new Request(request, { body: text })
  return text
}

/** How much longer a body may be of which a part is let go as it is read. */
const letGoTimes = 8

/**
 * As `readSharedText`, for a list `messages` of which only the last message matters, and the last one of the assistant: the others are let go as they come, and count
 * little. So a page that sends all of its conversation each time may have a long one.
 */
export async function readLastMessages(c: Context, limits: BodyLimits): Promise<string> {
  const request = c.req.raw
  if (request.bodyUsed || !request.body) return readSharedText(c, limits)
  return readStream(request, { ...limits, maxBytes: letGoTimes * limits.maxBytes }, () => new LastKept(limits.maxBytes))
}

/** What is kept of a body as it comes. */
interface Kept {
  readonly text: string
  add(piece: string): void
}

class LastKept extends LastOfList implements Kept {
  readonly #maxChars: number

  constructor(maxChars: number) {
    // Parsed: data in a message may have roles too, and a role may be written with escapes.
    super('messages', (message) => fieldIn(parsedJson(message), 'role') === 'assistant')
    this.#maxChars = maxChars
  }

  override add(piece: string): void {
    super.add(piece)
    if (this.length > this.#maxChars) refuseTooLarge(this.#maxChars)
  }
}

class AllKept implements Kept {
  text = ''

  add(piece: string): void {
    this.text += piece
  }
}

/**
 * The body as a text of UTF-8, with the mark at its beginning where it has one.
 *
 * **Contract**: refuses with 413, 408 and 400. What is too long or too slow is not read on. Hono's `bodyLimit` waits as long as it takes.
 */
export async function readText(request: Request, limits: BodyLimits): Promise<string> {
  return readStream(request, limits, () => new AllKept())
}

async function readStream(request: Request, limits: BodyLimits, keeping: () => Kept): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > limits.maxBytes) refuseTooLarge(limits.maxBytes)
  if (request.body === null) return ''
  // Firefox has no stream of it: then it is read as a whole.
  if (request.body === undefined) return within(await request.text(), limits)
  const reader = request.body.getReader()
  let isLate = false
  const stopTimer = startTimer(limits.timeoutMs, () => {
    isLate = true
    // Ends the read that waits.
    reader.cancel().catch(() => undefined)
  })
  try {
    const text = await decoded(reader, limits.maxBytes, keeping())
    if (isLate) refuse(408, 'bodyTooSlow', `The body was not there after ${limits.timeoutMs} ms. Send it again, at once.`)
    return text
  } catch (error) {
    if (error instanceof ProblemError) throw error
    refuse(400, 'invalidBody', 'The body broke off, or is not UTF-8. Send it again.')
  } finally {
    stopTimer()
    reader.cancel().catch(() => undefined)
  }
}

async function decoded(reader: ReadableStreamDefaultReader<Uint8Array>, maxBytes: number, kept: Kept): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let bytes = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    bytes += next.value.byteLength
    if (bytes > maxBytes) refuseTooLarge(maxBytes)
    kept.add(decoder.decode(next.value, { stream: true }))
  }
  kept.add(decoder.decode())
  return kept.text
}

/** A body that was read already: by `authorize`, for one. */
function within(text: string, { maxBytes }: BodyLimits): string {
  if (new TextEncoder().encode(text).length > maxBytes) refuseTooLarge(maxBytes)
  return text
}

/** The JSON object that a text is. Refuses with 400. */
export function parseObject(text: string): JsonObject {
  let value: JsonValue
  try {
    value = JSON.parse(text)
  } catch {
    refuse(400, 'invalidBody', 'The body is not JSON.')
  }
  if (!isJsonObject(value)) refuse(400, 'invalidBody', 'The body is not a JSON object.')
  return value
}

function refuseTooLarge(maxBytes: number): never {
  refuse(413, 'bodyTooLarge', `The body has more than ${maxBytes} bytes. Send less, or raise maxBodyBytes on the server.`)
}
