import type { Context } from 'hono'
import type { JsonObject, JsonValue } from '../../../src/index.ts'
import { ProblemError, refuse } from '../problem.ts'

/** Platforms take no longer delay, in ms: they would fire at once. */
const longestMs = 2_147_483_647

/** What a body may cost. */
export interface BodyLimits {
  /** Bytes. */
  maxBytes: number
  /** Milliseconds until it must be there. */
  timeoutMs: number
}

/**
 * The JSON object that a request brings.
 *
 * **Contract**
 * - The body must be `application/json`: a foreign web page cannot send that without asking first.
 * - Refuses with 415, 413, 408 and 400. What is too long or too slow is not read on.
 */
export async function readJsonObject(c: Context, limits: BodyLimits): Promise<JsonObject> {
  const type = c.req.header('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') refuse(415, 'unsupportedMediaType', 'Send the body as content-type: application/json.')
  return parseObject(await readText(c, limits))
}

/** The body as a text of UTF-8, within the limits. Who asks `c.req` for it before or afterwards gets it too. */
export async function readText(c: Context, limits: BodyLimits): Promise<string> {
  const request = c.req.raw
  if (request.bodyUsed) return within(await c.req.text(), limits)
  if (request.body === null) return ''
  // Firefox has no stream of it: then it is read as a whole.
  if (request.body === undefined) return within(await c.req.text(), limits)
  const text = await textOf(request, request.body, limits)
  c.req.raw = new Request(request, { body: text })
  return text
}

/** A body that was read already: by `authorize`, for one. */
function within(text: string, { maxBytes }: BodyLimits): string {
  if (new TextEncoder().encode(text).length > maxBytes) refuseTooLarge(maxBytes)
  return text
}

async function textOf(request: Request, body: ReadableStream<Uint8Array>, { maxBytes, timeoutMs }: BodyLimits): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) refuseTooLarge(maxBytes)
  const reader = body.getReader()
  let isLate = false
  const giveUp = () => {
    isLate = true
    // Ends the read that waits.
    reader.cancel().catch(() => undefined)
  }
  const timer = setTimeout(giveUp, Math.min(timeoutMs, longestMs))
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true })
    let text = ''
    let bytes = 0
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      bytes += next.value.byteLength
      if (bytes > maxBytes) refuseTooLarge(maxBytes)
      text += decoder.decode(next.value, { stream: true })
    }
    if (isLate) refuse(408, 'bodyTooSlow', `The body was not there after ${timeoutMs} ms. Send it again, at once.`)
    return text + decoder.decode()
  } catch (error) {
    if (error instanceof ProblemError) throw error
    refuse(400, 'invalidBody', 'The body broke off, or is not UTF-8. Send it again.')
  } finally {
    clearTimeout(timer)
    reader.cancel().catch(() => undefined)
  }
}

function parseObject(text: string): JsonObject {
  let value: JsonValue
  try {
    value = JSON.parse(text)
  } catch {
    refuse(400, 'invalidBody', 'The body is not JSON.')
  }
  if (!isObject(value)) refuse(400, 'invalidBody', 'The body is not a JSON object.')
  return value
}

/** Whether a value is an object with names. */
export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refuseTooLarge(maxBytes: number): never {
  refuse(413, 'bodyTooLarge', `The body has more than ${maxBytes} bytes. Send less, or raise maxBodyBytes on the server.`)
}
