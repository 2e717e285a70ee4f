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
  /** Path relative to the session's URL, such as `/runs`. */
  path: string
  body?: JsonObject
  /** The idempotency key of a request that must run once. */
  key?: string
}

/**
 * Disables caching, because otherwise a browser delays a second tab's request for the same events until the first one ends. Some runtimes
 * reject this option.
 */
const uncached: RequestInit = 'cache' in Request.prototype ? { cache: 'no-store' } : {}

/** Maximum bytes of a JSON response. Large, because a history may contain media. */
const maxJsonBytes = 256 * 1024 * 1024

/** Sends requests for one session, with retries. */
export class Wire {
  readonly patience: Patience
  /** Resolver for media that the session's events reference. */
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

  /** Calls `listener` with each shared-state version that a stream reports between events. */
  hearState(listener: (version: number) => void): void {
    this.#onState = listener
  }

  /** Aborts all requests and backoff waits. */
  close(): void {
    this.#closed.abort(new RemoteError('closed', 'This client closed the session.'))
  }

  /** Sends a request once and returns the response's event stream. Rejects with `RemoteError`. */
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

  /** Sends a request with retries and returns the response's JSON, or `undefined` without a body. Rejects with `RemoteError`. */
  json(ask: Ask): Promise<unknown> {
    return this.insist(() => this.ask(ask))
  }

  /**
   * Posts a decision, and retries until the server responds. Resolves with the id of the loop that continues. Rejects with `RemoteError`.
   */
  async decide(path: string, body: JsonObject): Promise<string | undefined> {
    let mayBeDone = false
    const answer = await this.insist(async () => {
      try {
        return await this.ask({ method: 'POST', path, body })
      } catch (error) {
        // The previous attempt's response was lost, but the decision was accepted, so the request is no longer pending.
        if (mayBeDone && codeOf(error) === 'notFound') return {}
        mayBeDone = true
        throw error
      }
    })
    const { loopId }: { loopId?: unknown } = Object(answer)
    return typeof loopId === 'string' ? loopId : undefined
  }

  /** Like `json`, but without retries. */
  async ask(ask: Ask): Promise<unknown> {
    const response = await this.#answer(ask)
    if (response.status === 204) return undefined
    if (response.headers.get('content-type')?.includes('json') !== true) throw await unexpectedAnswer(response, 'JSON')
    return this.#whole((signal) => jsonOf(response, signal))
  }

  /** Returns stored bytes, without retries. There is no time limit while data arrives. Reads at most the announced number of bytes. */
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
    throw new RemoteError('unexpectedAnswer', `The response has ${came} the ${bytes} of the file.`, { isRetryable: true })
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
      throw new RemoteError('connectionLost', 'The connection was lost before the response was complete.', { cause, isRetryable: true })
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

  /**
   * Waits before the next attempt, based on the number of consecutive failures, until `stopped` aborts. Rejects with the error if no
   * attempts are left.
   */
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
    // The token has expired, and the header function returns a new one.
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
      throw new RemoteError('connectionLost', `Cannot reach the server: ${errorText(cause)}${ofPage(cause)}`, {
        cause,
        isRetryable: true,
      })
    }
  }

  /**
   * Validated here instead of at session creation, because server-side rendering sends no requests and needs no absolute URL. Omits the
   * platform's message, which may contain secrets from a URL or header.
   */
  #requestTo(path: string, init: RequestInit): Request {
    try {
      return new Request(this.#base + path, init)
    } catch {
      const advice = 'Outside a browser, pass an absolute URL without credentials, such as "https://agents.example/api".'
      throw new RemoteError('invalidOption', `Invalid url. ${advice}`)
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
  throw new RemoteError('unexpectedAnswer', `The response is longer than ${maxJsonBytes} bytes. Check url.`)
}

function gaveUp(failures: number, cause: RemoteError): RemoteError {
  // Throw the last failure, which is more informative than an error about the number of attempts.
  const why = cause.message.replace(/\.$/, '')
  const code = cause.code === 'unexpectedAnswer' ? cause.code : 'connectionLost'
  return new RemoteError(code, `Cannot reach the session after ${failures} attempts. Last error: ${why}. Call load() to retry.`, {
    cause,
    ...(cause.status !== undefined && { status: cause.status }),
  })
}

/** Browsers report the same error for an unreachable server and a rejected cross-origin request. */
function ofPage(cause: unknown): string {
  const isBrowser = /^(?:Failed to fetch|Load failed|NetworkError when attempting)/.test(errorText(cause))
  return isBrowser ? '. Is it running, and does it list the origin of this page in cors?' : ''
}
