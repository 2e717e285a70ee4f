import { raceAbort } from '../../base/abort.ts'
import { isBytesOf } from '../../base/hash.ts'
import { isEventStream, readBytes } from '../../base/http-answer.ts'
import { logWarning } from '../../base/log-warning.ts'
import { retryDelayMs, startTimer } from '../../base/timer.ts'
import { errorText } from '../../contract/errors.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { StoredBytes } from '../../contract/message/media.ts'
import type { Logger } from '../../types/logger.ts'
import { codeOf, RemoteError } from '../remote-error.ts'
import { type Patience, patienceOf, type RemoteSessionOptions, sendableHeaders } from '../remote-options.ts'
import { refusalOf, unexpectedAnswer } from './answers.ts'
import { waitForWay } from './connectivity.ts'
import { EventStream, stalled } from './event-stream.ts'
import { NamedMedia } from './named-media.ts'

/** A request about a session. */
export interface Ask {
  method: 'GET' | 'POST' | 'DELETE'
  /** The path after the session's URL, such as `/runs`. */
  path: string
  body?: JsonObject
  /** The idempotency key of a request that must run once. */
  key?: string
}

/**
 * Prevents caching of the response: of two tabs that read the same events, the browser would let the second wait for the first. Some runtimes
 * reject this option.
 */
const uncached: RequestInit = 'cache' in Request.prototype ? { cache: 'no-store' } : {}

/** Maximum bytes of JSON in one response. A history may contain media. */
const maxJsonBytes = 256 * 1024 * 1024

/** Sends requests about one session with retries. */
export class Wire {
  readonly patience: Patience
  /** Media that events of the session name. */
  readonly media: NamedMedia
  #onState: (version: number) => void = () => undefined
  readonly #options: RemoteSessionOptions
  readonly #base: string
  readonly #closed = new AbortController()

  constructor(options: RemoteSessionOptions) {
    this.#options = options
    this.#base = `${options.url.replace(/\/+$/, '')}/sessions/${encodeURIComponent(options.sessionId)}`
    this.patience = patienceOf(options.reconnect ?? {})
    this.media = new NamedMedia(
      (blob) => this.insist(() => this.#bytes(blob)),
      ({ code, message }) => logWarning(this.logger, 'mediaGone', { sessionId: options.sessionId, code, message }),
    )
  }

  get logger(): Logger | false | undefined {
    return this.#options.logger
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted
  }

  /** `listener` is called with each version of shared state that a stream reports between events. */
  hearState(listener: (version: number) => void): void {
    this.#onState = listener
  }

  /** Aborts all requests and waits. */
  close(): void {
    this.#closed.abort(new RemoteError('closed', 'The session was closed on this side.'))
  }

  /** Returns the events of a response, in one attempt. Rejects with `RemoteError`. */
  async stream(ask: Ask): Promise<EventStream> {
    const connection = new AbortController()
    const letGo = (): void => connection.abort()
    try {
      const response = await this.#answer(ask, { signal: connection.signal, ...uncached })
      const isStream = isEventStream(response)
      if (!isStream || response.body === null) throw await unexpectedAnswer(response, 'a stream of events')
      const { sessionId } = this.#options
      const { idleTimeoutMs: idleMs } = this.patience
      const beginsRun = ask.method === 'POST'
      return new EventStream(response.body, { idleMs, beginsRun, media: this.media, sessionId, letGo, onState: this.#onState })
    } catch (error) {
      letGo()
      throw error
    }
  }

  /** Returns the JSON of a response, with retries; undefined without a body. Rejects with `RemoteError`. */
  json(ask: Ask): Promise<unknown> {
    return this.insist(() => this.ask(ask))
  }

  /** Posts a decision until the server responds. Resolves with the loop that continues; rejects with `RemoteError`. */
  async decide(path: string, body: JsonObject): Promise<string | undefined> {
    let mayBeDone = false
    const answer = await this.insist(async () => {
      try {
        return await this.ask({ method: 'POST', path, body })
      } catch (error) {
        // The response to the previous attempt was lost: the request is no longer pending because it was accepted.
        if (mayBeDone && codeOf(error) === 'notFound') return {}
        mayBeDone = true
        throw error
      }
    })
    const { loopId }: { loopId?: unknown } = Object(answer)
    return typeof loopId === 'string' ? loopId : undefined
  }

  /** Does the same as `json` in one attempt. */
  async ask(ask: Ask): Promise<unknown> {
    const response = await this.#answer(ask)
    if (response.status === 204) return undefined
    if (response.headers.get('content-type')?.includes('json') !== true) throw await unexpectedAnswer(response, 'JSON')
    return this.#whole((signal) => jsonOf(response, signal))
  }

  /** Returns stored bytes in one attempt. Any duration is accepted while data arrives; more bytes than named are not read. */
  async #bytes({ hash, bytes }: StoredBytes): Promise<Uint8Array> {
    const response = await this.#answer({ method: 'GET', path: `/blobs/${encodeURIComponent(hash)}` })
    const reader = response.body?.getReader()
    const read = new Uint8Array(bytes)
    let at = 0
    try {
      for (let next = await this.#nextOf(reader); next !== undefined && at <= bytes; next = await this.#nextOf(reader)) {
        read.set(next.subarray(0, bytes - at), at)
        at += next.length
      }
    } finally {
      reader?.cancel().catch(() => undefined)
    }
    if (at === bytes && (await isBytesOf(hash, read))) return read
    const came = at === bytes ? 'other bytes than' : `${at < bytes ? at : 'more'} bytes, and not`
    throw new RemoteError('unexpectedAnswer', `The answer has ${came} the ${bytes} that the file has.`, { isRetryable: true })
  }

  async #nextOf(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<Uint8Array | undefined> {
    return reader === undefined ? undefined : (await this.#whole(() => reader.read())).value
  }

  #refusal(response: Response, { method }: Ask): Promise<RemoteError> {
    return this.#whole((signal) => refusalOf(response, method, signal))
  }

  async #whole<Body>(read: (signal: AbortSignal) => Promise<Body>): Promise<Body> {
    try {
      return await this.#untilStalled(read)
    } catch (cause) {
      if (RemoteError.isInstance(cause)) throw cause
      throw new RemoteError('connectionLost', 'The answer was cut before it was complete.', { cause, isRetryable: true })
    }
  }

  /** Repeats `attempt` until it succeeds, fails permanently, or fails too often in a row. */
  async insist<T>(attempt: () => Promise<T>): Promise<T> {
    for (let failures = 1; ; failures++) {
      try {
        return await attempt()
      } catch (error) {
        await this.pause(failures, error)
      }
    }
  }

  /** Waits before the next attempt after that many failures in a row, until `stopped` aborts. Rejects with the error if there is none. */
  async pause(failures: number, error: unknown, stopped?: AbortSignal): Promise<void> {
    if (!RemoteError.isInstance(error) || !error.isRetryable) throw error
    if (this.isClosed) throw this.#closed.signal.reason
    if (failures > this.patience.maxRetries) throw gaveUp(failures, error)
    if (stopped?.aborted === true) return
    const delayMs = retryDelayMs(failures, this.patience, error.retryAfterMs)
    logWarning(this.logger, 'connectionRetry', { code: error.code, message: error.message, attempt: failures, delayMs })
    const { signal } = this.#closed
    await waitForWay(delayMs, stopped === undefined ? signal : AbortSignal.any([signal, stopped]))
    if (this.isClosed) throw this.#closed.signal.reason
  }

  async #answer(ask: Ask, init: RequestInit = {}): Promise<Response> {
    const response = await this.#send(ask, init)
    if (response.ok) return response
    // The token expired meanwhile, and the function returns a new one.
    const isExpired = response.status === 401 && typeof this.#options.headers === 'function'
    if (!isExpired) throw await this.#refusal(response, ask)
    await response.body?.cancel().catch(() => undefined)
    const again = await this.#send(ask, init)
    if (!again.ok) throw await this.#refusal(again, ask)
    return again
  }

  async #send({ method, path, body, key }: Ask, init: RequestInit): Promise<Response> {
    const { fetch: send = (request: Request) => fetch(request), headers } = this.#options
    const all = sendableHeaders(typeof headers === 'function' ? await headers() : headers)
    if (body !== undefined) all.set('content-type', 'application/json')
    if (key !== undefined) all.set('idempotency-key', key)
    const content = body === undefined ? {} : { body: JSON.stringify(body) }
    const request = this.#requestTo(path, { ...init, method, headers: all, redirect: 'manual', ...content })
    try {
      return await this.#untilStalled(() => send(request))
    } catch (cause) {
      if (RemoteError.isInstance(cause)) throw cause
      throw new RemoteError('connectionLost', `The server could not be reached: ${errorText(cause)}${ofPage(cause)}`, {
        cause,
        isRetryable: true,
      })
    }
  }

  /**
   * Validated here, not when the session is created, because server rendering sends no requests and needs no absolute URLs. Messages of the
   * platform may contain secrets of a URL or a header.
   */
  #requestTo(path: string, init: RequestInit): Request {
    try {
      return new Request(this.#base + path, init)
    } catch {
      const advice = 'Outside of a page it must be a whole one, such as "https://agents.example/api", without a name and a password in it.'
      throw new RemoteError('invalidOption', `url is no address that can be asked. ${advice}`)
    }
  }

  /** Returns the outcome of `work` unless it exceeds the idle timeout, or the session is closed. Its signal then aborts. */
  async #untilStalled<T>(work: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
    const late = new AbortController()
    const { idleTimeoutMs } = this.patience
    const stop = startTimer(idleTimeoutMs, () => late.abort(stalled(idleTimeoutMs)))
    const signal = AbortSignal.any([late.signal, this.#closed.signal])
    try {
      return await raceAbort(work(signal), signal)
    } finally {
      stop()
    }
  }
}

/** Reads a response body up to a limit, because it may be endless. */
async function jsonOf(response: Response, signal: AbortSignal): Promise<unknown> {
  const { bytes, isWhole } = await readBytes(response, maxJsonBytes, signal)
  if (isWhole) return JSON.parse(new TextDecoder().decode(bytes))
  throw new RemoteError('unexpectedAnswer', `The answer is longer than ${maxJsonBytes} bytes. Check url.`)
}

function gaveUp(failures: number, cause: RemoteError): RemoteError {
  // The last failure says more than the fact that it was the last.
  const why = cause.message.replace(/\.$/, '')
  const code = cause.code === 'unexpectedAnswer' ? cause.code : 'connectionLost'
  return new RemoteError(
    code,
    `The session could not be reached, ${failures} times in a row; the last time: ${why}. Call load() to try again.`,
    {
      cause,
      ...(cause.status !== undefined && { status: cause.status }),
    },
  )
}

/** Browsers report the same for an unreachable server and a rejected cross-origin request. */
function ofPage(cause: unknown): string {
  const isBrowser = /^(?:Failed to fetch|Load failed|NetworkError when attempting)/.test(errorText(cause))
  return isBrowser ? '. Is it running, and does it list the origin of this page in cors?' : ''
}
