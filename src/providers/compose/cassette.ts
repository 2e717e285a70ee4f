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
  /** URL without secrets. */
  url: aText,
  /** Request body, parsed if it is JSON. */
  request: anything,
  status: aNumber,
  headers: texts,
  /** Response body, split into lines for readable diffs. */
  body: listOf(aText),
})

/** A call and its response, as plain JSON without secrets. */
export type CassetteEntry = Infer<typeof entryShape>
const cassetteShape = fieldsOf({ version: aNumber, calls: listOf(entryShape) })
/** Recorded calls, in order. Commit it as a file, so that diffs show how a change affects requests. */
export type Cassette = Infer<typeof cassetteShape>

/** Options for `recordFetch`: where the cassette is written. */
export interface RecordOptions {
  /** Called with the complete cassette after each completed response, for example to write it to a file. */
  write: (cassette: Cassette) => void | Promise<void>
}

const recordOptions = optionsOf<RecordOptions>({ write: required(aFunction) })

/** Response headers that decoders read. Other headers change with every call or identify the caller. */
const keptHeaders = ['content-type', 'retry-after']

/**
 * Wraps `fetch` and records requests and responses. Pass it to a factory, and pass the cassette to {@link replayFetch}.
 *
 * **Contract**
 * - Records no keys: omits request headers and secrets in URLs, and keeps only the content type and `retry-after` of response headers.
 *   Replaces keys in bodies. Records prompts and responses.
 * - Calls are recorded in start order. For a response that fails or is not fully read, records the part that was read. A call without a
 *   response is not recorded.
 * - An error of `write` is thrown at the end of the response.
 *
 * Source: docs/concepts/models.md
 */
export function recordFetch(inner: typeof fetch, options: RecordOptions): typeof fetch {
  checkOptions(inner, aFunction, 'fetch')
  checkOptions(options, recordOptions)
  /** Entries of started calls. `undefined` until the response ends. */
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

/** A request's recorded parts. */
type Sent = Pick<CassetteEntry, 'method' | 'url' | 'request'>

/** Returns the request, including secrets. Called before sending, because the body can be read only once. */
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

/** Copies `body`, and calls `done` with the text when the body ends or is cancelled. */
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
  // Do not read ahead of the consumer.
  return new ReadableStream(source, { highWaterMark: 0 })
}

/**
 * Creates a `fetch` that replays a cassette without network access.
 *
 * **Contract**
 * - Each recorded call is used once. A request gets the first unused recording that equals it, so parallel calls may arrive in any order.
 * - Rejects a request without an equal recording. The error shows the first difference from the next recording. Also rejects calls after
 *   the last recording.
 * - Throws `ConfigError` `invalidOption` for an invalid cassette.
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
  return new ConfigError('invalidOption', `The cassette has no response: ${why}. Record it again, or undo the change to the request.`)
}

/** Describes the first difference between two JSON values. */
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
