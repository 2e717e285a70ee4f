import { isSecretHeader } from '../../base/text/secrets.ts'
import { withoutUrlSecrets } from '../../base/text/url-secrets.ts'
import { ConfigError } from '../../contract/errors.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import {
  aFunction,
  aNumber,
  anything,
  aText,
  fieldsOf,
  type Infer,
  listOf,
  options as optionsOf,
  required,
  texts,
} from '../../contract/shape/shape.ts'

const entryShape = fieldsOf({
  method: aText,
  /** Without what may be a secret. */
  url: aText,
  /** The body that was sent, as JSON where it is JSON, else as text. */
  request: anything,
  status: aNumber,
  headers: texts,
  /** The body of the answer, line by line: what changed shows in a diff. */
  body: listOf(aText),
})

/** One call and its answer, as plain JSON without secrets. */
export type CassetteEntry = Infer<typeof entryShape>
const cassetteShape = fieldsOf({ version: aNumber, calls: listOf(entryShape) })
/** Calls that were recorded, in their order. Keep it as a file: it reads well and shows in a diff what a change does to requests. */
export type Cassette = Infer<typeof cassetteShape>

/** Where what is recorded goes. */
export interface RecordOptions {
  /** Told of the whole cassette after each call whose answer has come to its end. */
  write: (cassette: Cassette) => void | Promise<void>
}

const recordOptions = optionsOf<RecordOptions>({ write: required(aFunction) })

/** Headers of an answer that decoders read; all others change from call to call, or tell who asked. */
const keptHeaders = ['content-type', 'retry-after']

/**
 * A `fetch` that also records what it sends and gets: pass it to a factory, and give what was written to {@link replayFetch}.
 *
 * **Contract**
 * - No key is recorded: of requests neither headers nor what is secret in an address, of answers the type and `retry-after` alone. What people and
 *   models said is.
 * - A call that fails without an answer is not recorded. What `write` throws is thrown where the answer ends.
 *
 * Source: docs/concepts/models-of-models.md
 */
export function recordFetch(inner: typeof fetch, options: RecordOptions): typeof fetch {
  checkOptions(inner, aFunction, 'fetch')
  checkOptions(options, recordOptions)
  const cassette: Cassette = { version: 1, calls: [] }
  return async (input, init) => {
    const response = await inner(input, init)
    const at = cassette.calls.length
    const entry = await entryOf(input, init, response)
    cassette.calls[at] = entry
    if (response.body === null) {
      await options.write(cassette)
      return response
    }
    return new Response(response.body.pipeThrough(copied(entry, () => options.write(cassette))), response)
  }
}

async function entryOf(input: Parameters<typeof fetch>[0], init: RequestInit | undefined, response: Response): Promise<CassetteEntry> {
  const headers: Record<string, string> = {}
  for (const name of keptHeaders) {
    const value = response.headers.get(name)
    if (value !== null && !isSecretHeader(name)) headers[name] = value
  }
  return { ...(await sentBy(input, init)), status: response.status, headers, body: [] }
}

async function sentBy(
  input: Parameters<typeof fetch>[0],
  init: RequestInit = {},
): Promise<Pick<CassetteEntry, 'method' | 'url' | 'request'>> {
  const { body } = init
  const url = input instanceof Request ? input.url : String(input)
  const text = typeof body === 'string' ? body : input instanceof Request && body === undefined ? await input.clone().text() : ''
  const method = init.method ?? (input instanceof Request ? input.method : 'GET')
  return { method, url: withoutUrlSecrets(url), request: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Passes bytes on and keeps their text in `entry`, line by line. */
function copied(entry: CassetteEntry, done: () => void | Promise<void>): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  const decoder = new TextDecoder()
  let text = ''
  return new TransformStream({
    transform: (chunk, controller) => {
      text += decoder.decode(chunk, { stream: true })
      controller.enqueue(chunk)
    },
    flush: async () => {
      entry.body = (text + decoder.decode()).split('\n')
      await done()
    },
  })
}

/**
 * A `fetch` that answers from a cassette, in the order of its calls, and reaches nobody.
 *
 * **Contract**
 * - A request that differs from the recorded one is refused: the error names the first place where they differ. So is one after the last.
 * - Throws `ConfigError` `invalidOption` for what is no cassette.
 *
 * Source: docs/concepts/models-of-models.md
 */
export function replayFetch(cassette: Cassette): typeof fetch {
  checkOptions(cassette, cassetteShape, 'cassette')
  let next = 0
  return async (input, init) => {
    const sent = await sentBy(input, init)
    const entry = cassette.calls[next]
    const number = next + 1
    if (entry === undefined) throw refused(`call ${number} was not recorded: the cassette has ${cassette.calls.length}`)
    const { method, url, request } = entry
    const place = firstDifference({ method, url, request }, sent, 'the request')
    if (place !== undefined) throw refused(`call ${number} differs from the recorded one: ${place}`)
    next += 1
    init?.signal?.throwIfAborted()
    const isEmpty = entry.status === 204 || entry.status === 304
    return new Response(isEmpty ? null : entry.body.join('\n'), { status: entry.status, headers: entry.headers })
  }
}

function refused(why: string): ConfigError {
  return new ConfigError('invalidOption', `The cassette does not answer: ${why}. Record it anew, or undo what changed the request.`)
}

/** Where two JSON values differ first, in words. */
function firstDifference(recorded: unknown, sent: unknown, path: string): string | undefined {
  if (Object.is(recorded, sent)) return undefined
  if (!isObject(recorded) || !isObject(sent) || Array.isArray(recorded) !== Array.isArray(sent)) {
    return `${path} is ${shown(sent)}, and was ${shown(recorded)}`
  }
  for (const key of new Set([...Object.keys(recorded), ...Object.keys(sent)])) {
    const difference = firstDifference(recorded[key], sent[key], Array.isArray(sent) ? `${path}[${key}]` : `${path}.${key}`)
    if (difference !== undefined) return difference
  }
  return undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'missing'
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
