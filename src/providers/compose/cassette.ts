import { parsedJson } from '../../base/json/json-value.ts'
import { shortened } from '../../base/text/characters.ts'
import { withoutSecret } from '../../base/text/redact.ts'
import { secretsIn, withoutUrlSecrets } from '../../base/text/secrets.ts'
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
 * - No key is recorded: of requests neither headers nor what is secret in an address, of answers the type and `retry-after` alone; where a body repeats
 *   a key, it is replaced. The words of people and models are recorded.
 * - Calls stand in the order in which they began. An answer that breaks off, or is not read to its end, is recorded as far as it came; a call without an
 *   answer is not.
 * - An error of `write` is thrown where the answer ends.
 *
 * Source: docs/concepts/models.md
 */
export function recordFetch(inner: typeof fetch, options: RecordOptions): typeof fetch {
  checkOptions(inner, aFunction, 'fetch')
  checkOptions(options, recordOptions)
  /** Those that have begun; absent while their answer has not come to its end. */
  const begun: (CassetteEntry | undefined)[] = []
  return async (input, init) => {
    const at = begun.push(undefined) - 1
    const { secrets, ...sent } = await sentBy(input, init)
    const response = await inner(input, init)
    const { status } = response
    const headers = keptOf(response.headers)
    const done = (text: string): void | Promise<void> => {
      begun[at] = { ...sent, status, headers, body: withoutSecret(text, secrets).split('\n') }
      return options.write({ version: 1, calls: begun.filter((entry) => entry !== undefined) })
    }
    if (response.body !== null) return new Response(copied(response.body, done), response)
    await done('')
    return response
  }
}

function keptOf(headers: Headers): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const name of keptHeaders) {
    const value = headers.get(name)
    if (value !== null) kept[name] = value
  }
  return kept
}

/** What is kept of a request. */
type Sent = Pick<CassetteEntry, 'method' | 'url' | 'request'>

/** With the secrets that it carries. Read before it is sent: afterwards its body is gone. */
async function sentBy(input: Parameters<typeof fetch>[0], init: RequestInit = {}): Promise<Sent & { secrets: readonly string[] }> {
  const { body } = init
  const given = input instanceof Request ? input : undefined
  const url = given?.url ?? String(input)
  const text = typeof body === 'string' ? body : given !== undefined && body === undefined ? await given.clone().text() : ''
  const secrets = secretsIn(url, Object.fromEntries(new Headers(init.headers ?? given?.headers)))
  const method = init.method ?? given?.method ?? 'GET'
  return { method, url: withoutUrlSecrets(url), request: parsed(withoutSecret(text, secrets)), secrets }
}

function parsed(text: string): unknown {
  const value = parsedJson(text)
  return value === undefined ? text : value
}

/** The bytes of `body`; `done` is told of their text once no more of them come, or are wanted. */
function copied(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  done: (text: string) => void | Promise<void>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  const end = () => done(text + decoder.decode())
  const source: UnderlyingDefaultSource<Uint8Array<ArrayBuffer>> = {
    pull: async (controller) => {
      const next = await reader.read().catch(async (error: unknown) => {
        await end()
        throw error
      })
      if (next.done) {
        await end()
        return controller.close()
      }
      text += decoder.decode(next.value, { stream: true })
      controller.enqueue(next.value)
    },
    cancel: async (reason) => {
      await reader.cancel(reason)
      await end()
    },
  }
  // Nothing is read ahead of whoever reads.
  return new ReadableStream(source, { highWaterMark: 0 })
}

/**
 * A `fetch` that answers from a cassette, and reaches nobody.
 *
 * **Contract**
 * - Each recorded call answers once: the first that is left and equals the request, so that calls at the same time may come in any order.
 * - A request that equals none of them is refused: the error names the first place where it differs from the next one. A call after the last one is
 *   refused, too.
 * - Throws `ConfigError` `invalidOption` for what is no cassette.
 *
 * Source: docs/concepts/models.md
 */
export function replayFetch(cassette: Cassette): typeof fetch {
  checkOptions(cassette, cassetteShape, 'cassette')
  const { calls } = cassette
  const left = new Set(calls.keys())
  return async (input, init) => {
    init?.signal?.throwIfAborted()
    const { secrets: _own, ...sent } = await sentBy(input, init)
    const at = [...left].find((index) => differenceFrom(calls[index], sent) === undefined)
    const entry = at === undefined ? undefined : calls[at]
    if (at === undefined || entry === undefined) {
      const [next = calls.length] = left
      const number = next + 1
      if (next === calls.length) throw refused(`call ${number} was not recorded: the cassette has ${calls.length}`)
      throw refused(`call ${number} differs from the recorded one: ${differenceFrom(calls[next], sent)}`)
    }
    left.delete(at)
    const isEmpty = entry.status === 204 || entry.status === 304
    return new Response(isEmpty ? null : entry.body.join('\n'), { status: entry.status, headers: entry.headers })
  }
}

function differenceFrom(entry: CassetteEntry | undefined, sent: Sent): string | undefined {
  const { method, url, request } = entry ?? {}
  return firstDifference({ method, url, request }, sent, 'the request')
}

function refused(why: string): ConfigError {
  return new ConfigError('invalidOption', `The cassette does not answer: ${why}. Record it again, or undo what changed the request.`)
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
  return shortened(text, 80)
}
