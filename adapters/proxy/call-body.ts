import type { JsonObject, JsonValue } from '../../src/index.ts'
import { Refusal } from './refusal.ts'

/** What a body may cost. */
export interface BodyLimits {
  maxBytes: number
  /** Milliseconds until it must be there. */
  timeoutMs: number
}

/** The body of a call: the text is sent as it came, the object is what was decided on. */
export interface CallBody {
  text: string
  json: JsonObject
}

/** Where bodies name models: the one that answers, those that may take its place, and those that tools of the service call. */
const modelFields = ['model', 'models', 'fallbacks', 'fallback_models'] as const

/**
 * The body of a call, checked so that the service cannot read another one out of it.
 *
 * **Contract**
 * - It is an object of strict JSON in UTF-8, sent as `application/json` (a foreign page cannot send that without asking first), not compressed.
 * - No field of the object stands twice, also in another case: parsers disagree on which one counts, and it may be the model.
 * - Throws `Refusal` 415, 413, 408 or 400. What is too long or too slow is not read on.
 */
export async function readCallBody(request: Request, limits: BodyLimits): Promise<CallBody> {
  const { headers } = request
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw new Refusal(415, 'unsupportedMediaType', 'Send the body as content-type: application/json.')
  if ((headers.get('content-encoding') ?? 'identity') !== 'identity') {
    throw new Refusal(415, 'unsupportedMediaType', 'The body is compressed. Send it as it is.')
  }
  const text = textOf(await readBytes(request, limits))
  const json = objectOf(text)
  const seen = new Set<string>()
  for (const key of topLevelKeys(text)) {
    const folded = key.toUpperCase().toLowerCase()
    if (seen.has(folded) || (key !== folded && modelFields.some((field) => field === folded))) {
      throw new Refusal(
        400,
        'invalidBody',
        `The body has the field ${JSON.stringify(key.slice(0, 40))} twice, or in another case. Send it once.`,
      )
    }
    seen.add(folded)
  }
  return { text, json }
}

/** Every model that the body names; an entry that is no text stands for a place that names one in a way nobody knows. */
export function modelsNamedIn(body: JsonObject): string[] {
  const { tools } = body
  const ofTools = Array.isArray(tools) ? tools.filter(isObject).map((tool) => tool.model) : []
  return [...modelFields.map((field) => body[field]), ...ofTools].flatMap(namesIn)
}

function namesIn(value: JsonValue | undefined): string[] {
  if (value === undefined || value === null) return []
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(namesIn)
  // No id has a blank: it is refused.
  return isObject(value) && 'model' in value ? namesIn(value.model) : [' ']
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

async function readBytes(request: Request, { maxBytes, timeoutMs }: BodyLimits): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes)
  // Firefox has no stream there.
  if (!request.body) return new Uint8Array(await request.arrayBuffer())
  const reader = request.body.getReader()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    // Ends the read that waits.
    reader.cancel().catch(() => undefined)
  }, timeoutMs)
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      length += next.value.byteLength
      if (length > maxBytes) throw tooLarge(maxBytes)
      chunks.push(next.value)
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal(400, 'invalidBody', 'The body broke off. Send it again.')
  } finally {
    clearTimeout(timer)
    reader.cancel().catch(() => undefined)
  }
  if (isLate) throw new Refusal(408, 'bodyTooSlow', `The body was not there after ${timeoutMs} ms. Send it again, at once.`)
  return joined(chunks, length)
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal(413, 'bodyTooLarge', `The body has more than ${maxBytes} bytes. Send less, or raise maxBodyBytes on the server.`)
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const [only] = chunks
  if (chunks.length === 1 && only !== undefined) return only
  const bytes = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Refusal(400, 'invalidBody', 'The body is not UTF-8.')
  }
}

function objectOf(text: string): JsonObject {
  let value: JsonValue
  try {
    value = JSON.parse(text)
  } catch {
    throw new Refusal(400, 'invalidBody', 'The body is not JSON.')
  }
  if (!isObject(value)) throw new Refusal(400, 'invalidBody', 'The body is not a JSON object.')
  return value
}

/** The field names of the object that `text` is, each as often as it stands there. `text` is known to be JSON. */
function topLevelKeys(text: string): string[] {
  const keys: string[] = []
  let depth = 0
  let isKeyNext = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '"') {
      const end = endOfString(text, at)
      if (isKeyNext) keys.push(JSON.parse(text.slice(at, end + 1)))
      isKeyNext = false
      at = end
    } else if (char === '{' || char === '[') {
      depth++
      isKeyNext = depth === 1
    } else if (char === '}' || char === ']') depth--
    else if (char === ',') isKeyNext = depth === 1
  }
  return keys
}

/** Where the string that begins at `start` ends. Long ones are jumped over: most of a body is text and images. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === 92) backslashes++
    if (backslashes % 2 === 0) return end
  }
  return text.length
}
