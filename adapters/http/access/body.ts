import type { Context } from 'hono'
import { parsedJson } from '../../../src/base/json/json-value.ts'
import { shortened } from '../../../src/base/text/characters.ts'
import { startTimer } from '../../../src/base/timer.ts'
import { fieldIn, isJsonObject } from '../../../src/contract/json.ts'
import { nearest } from '../../../src/contract/shape/nearest-name.ts'
import type { JsonObject, JsonValue } from '../../../src/index.ts'
import { LastOfList } from './last-of-list.ts'
import { ProblemError, refuse } from './problem.ts'

/** Limits for a request body. */
export interface BodyLimits {
  /** Maximum body size in bytes. */
  maxBytes: number
  /** Maximum milliseconds until the body is complete. */
  timeoutMs: number
}

/**
 * Rejects with 415 unless the body is uncompressed `application/json`. The content type forces other sites to send a preflight. A
 * compressed body could exceed its limit.
 */
export function assertJson({ headers }: Request): void {
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') refuse(415, 'unsupportedMediaType', 'Send the body as content-type: application/json.')
  assertUncompressed(headers)
}

/** Rejects a compressed body with 415. */
export function assertUncompressed(headers: Headers): void {
  if ((headers.get('content-encoding') ?? 'identity') !== 'identity')
    refuse(415, 'unsupportedMediaType', 'The body is compressed. Send it uncompressed.')
}

/** Parses the request body as a JSON object. Later readers of `c.req` can still read the body. Rejects with 415, 413, 408 or 400. */
export async function readJsonObject(c: Context, limits: BodyLimits): Promise<JsonObject> {
  assertJson(c.req.raw)
  return parseObject(await readSharedText(c, limits))
}

/** Like {@link readJsonObject}, for the native protocol. Also rejects unknown keys with a 400 `invalidBody` problem that names the key. */
export async function readOwnBody(c: Context, limits: BodyLimits, names: readonly string[]): Promise<JsonObject> {
  const body = await readJsonObject(c, limits)
  const unknown = Object.keys(body).find((name) => !names.includes(name))
  if (unknown === undefined) return body
  refuse(
    400,
    'invalidBody',
    `The body has the key ${JSON.stringify(shortened(unknown, 60))}, which this route does not accept. ${nearest(unknown, names)}`,
  )
}

/** Like `readText`, for a body that other code also reads from `c.req`. */
export async function readSharedText(c: Context, limits: BodyLimits): Promise<string> {
  const request = c.req.raw
  if (request.bodyUsed) return within(await c.req.text(), limits)
  const text = await readText(request, limits)
  if (request.body !== null) c.req.raw = new Request(request, { body: text })
  return text
}

/** Size limit for a body whose unused parts are dropped during reading, as a multiple of `maxBytes`. */
const letGoTimes = 8

/**
 * Like `readSharedText`, for a body in which only the last message and the last assistant message of `messages` are needed. Drops the other
 * messages while reading. Dropped messages barely count toward the limit, so a client can send a long conversation with each request.
 */
export async function readLastMessages(c: Context, limits: BodyLimits): Promise<string> {
  const request = c.req.raw
  if (request.bodyUsed || !request.body) return readSharedText(c, limits)
  return readStream(request, { ...limits, maxBytes: letGoTimes * limits.maxBytes }, () => new LastKept(limits.maxBytes))
}

/** Collects the needed parts of a streamed body. */
interface Kept {
  readonly text: string
  add(piece: string): void
}

class LastKept extends LastOfList implements Kept {
  readonly #maxChars: number

  constructor(maxChars: number) {
    // Parse the element, because message data may also contain a role, and a role may be escaped.
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
 * Reads the body as UTF-8 text, with its byte order mark.
 *
 * **Contract**
 * - Stops reading and rejects with 413, 408 or 400. Hono's `bodyLimit` has no timeout.
 */
export async function readText(request: Request, limits: BodyLimits): Promise<string> {
  return readStream(request, limits, () => new AllKept())
}

async function readStream(request: Request, limits: BodyLimits, keeping: () => Kept): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > limits.maxBytes) refuseTooLarge(limits.maxBytes)
  if (request.body === null) return ''
  // Firefox does not expose a request body as a stream.
  if (request.body === undefined) return within(await request.text(), limits)
  const reader = request.body.getReader()
  let isLate = false
  const stopTimer = startTimer(limits.timeoutMs, () => {
    isLate = true
    // End the pending read.
    reader.cancel().catch(() => undefined)
  })
  try {
    const text = await decoded(reader, limits.maxBytes, keeping())
    if (isLate) refuse(408, 'bodyTooSlow', `The body did not arrive within ${limits.timeoutMs} ms. Send it again without delay.`)
    return text
  } catch (error) {
    if (error instanceof ProblemError) throw error
    refuse(400, 'invalidBody', 'The body is incomplete or not UTF-8. Send it again.')
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

/** Returns the text of a body that was already read, for example by `authorize`. */
function within(text: string, { maxBytes }: BodyLimits): string {
  if (new TextEncoder().encode(text).length > maxBytes) refuseTooLarge(maxBytes)
  return text
}

/** Parses a JSON object. Rejects with 400. */
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
  refuse(413, 'bodyTooLarge', `The body exceeds ${maxBytes} bytes. Send less, or raise maxBodyBytes on the server.`)
}
