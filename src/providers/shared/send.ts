import { errorText, ProviderError, type ProviderErrorOptions } from '../../types/errors.ts'
import type { AssistantMessage } from '../../types/message.ts'
import type { EncodedRequest } from '../../types/provider.ts'
import type { AssistantBuilder } from './assistant-builder.ts'
import { classifyError, type Failure, withoutSecret } from './classify.ts'
import type { TransportOptions } from './factory-options.ts'
import { StallTimer } from './stall-timer.ts'

/** Turns the bytes of one response into operations on a builder. One per call; everything is synchronous. */
export interface StreamDecoder {
  readonly builder: AssistantBuilder
  /** The protocol's terminal event, for people: `message_stop`. */
  readonly terminal: string
  /** The terminal was seen: the message is complete even if the connection ends badly from here on. */
  readonly isComplete: boolean
  /** Nothing that matters can follow: reading stops. */
  readonly isDone: boolean
  /** Counts pieces of content; pings and comments leave it unchanged. */
  readonly progress: number
  /** Throws `ProviderError` for an error inside the stream and for bytes that cannot be read. */
  push(bytes: Uint8Array): void
  /** The body ended: reads what is left of the last frame. May throw like `push`. */
  end(): void
  /** The finished message. Called once, after `isComplete`. */
  finish(): AssistantMessage
}

/** One model call on the wire. */
export interface Exchange {
  /** The service, for people: `Anthropic`. */
  service: string
  encoded: EncodedRequest
  decoder: StreamDecoder
  /** Owned by the caller. */
  signal: AbortSignal
  transport: TransportOptions
  /** The key inside `encoded`, to keep it out of messages. */
  credential?: string
  /** What a browser user can do when the service refuses cross-origin calls. */
  browserHint?: string
  emptyBodyIsOverflow?: boolean
}

const defaultIdleMs = 60_000
const defaultProgressMs = 300_000
/** How long trailing frames are waited for once the message is complete. */
const graceMs = 2_000
const maxErrorBody = 64 * 1024

/**
 * Sends a request and feeds the response to its decoder.
 *
 * **Contract**
 * - Resolves with the finished message as soon as the decoder is done, also when the connection then hangs or breaks.
 * - Rejects only with `ProviderError`: refusals (see `classifyError`), `network` for transport, stalls and an end without the terminal
 *   event, `cancelled` when `signal` aborts. `partial` holds what came once the response had begun.
 * - Redirects are refused: a key must not follow them.
 * - On every path the body is cancelled and no timer or listener is left.
 *
 * Source: reference/providers.md §0, reference/reliability.md §3.
 */
export async function sendStreaming(exchange: Exchange): Promise<AssistantMessage> {
  const call = new Call(exchange)
  try {
    return await call.run()
  } catch (error) {
    throw call.explain(error)
  } finally {
    call.release()
  }
}

class Call {
  readonly #exchange: Exchange
  readonly #aborter = new AbortController()
  readonly #idle: StallTimer
  readonly #progress: StallTimer
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  #stage: 'open' | 'read' | 'decode' = 'open'
  #stall: string | undefined

  constructor(exchange: Exchange) {
    this.#exchange = exchange
    const { idleTimeoutMs = defaultIdleMs, progressTimeoutMs = defaultProgressMs } = exchange.transport
    this.#idle = new StallTimer(idleTimeoutMs, () => this.#stalled(`sent nothing for ${idleTimeoutMs} ms (idleTimeoutMs)`))
    this.#progress = new StallTimer(progressTimeoutMs, () =>
      this.#stalled(`sent no content for ${progressTimeoutMs} ms (progressTimeoutMs)`),
    )
    exchange.signal.addEventListener('abort', this.#cancel)
  }

  async run(): Promise<AssistantMessage> {
    const { signal, decoder, service } = this.#exchange
    signal.throwIfAborted()
    const response = await this.#open()
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) throw redirected(service, response)
    this.#stage = 'read'
    const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = response.body?.getReader()
    this.#reader = reader
    // The response may have come in spite of an abort.
    if (this.#aborter.signal.aborted) this.#cancel()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    if (!response.ok || isJson) throw await this.#refused(response, reader)
    if (reader !== undefined) await this.#read(reader)
    if (!decoder.isComplete) throw incomplete(service, decoder, response)
    return decoder.finish()
  }

  /** Engines disagree on what an aborted fetch throws, so an abort is recognised by the signal. */
  explain(error: unknown): ProviderError {
    const { decoder, credential } = this.#exchange
    const found = this.#cause(error)
    const message = withoutSecret(found.message, credential)
    const options: ProviderErrorOptions = { isRetryable: found.isRetryable }
    if (found.status !== undefined) options.status = found.status
    if (found.retryAfterMs !== undefined) options.retryAfterMs = found.retryAfterMs
    if (decoder.builder.isStarted) {
      options.partial = decoder.builder.fail(found.code === 'cancelled' ? 'aborted' : 'error', message)
    }
    return new ProviderError(found.code, message, options)
  }

  release(): void {
    this.#idle.stop()
    this.#progress.stop()
    this.#exchange.signal.removeEventListener('abort', this.#cancel)
    this.#cancel()
  }

  /** Cuts the connection. A pending read then ends at once, whatever the engine or an injected fetch does with its signal. */
  readonly #cancel = (): void => {
    this.#aborter.abort()
    this.#reader?.cancel().catch(() => undefined)
  }

  #stalled(what: string): void {
    if (!this.#exchange.decoder.isComplete) this.#stall = what
    this.#cancel()
  }

  async #open(): Promise<Response> {
    const { encoded, transport } = this.#exchange
    // A local, because fetch must not be called as a method of another object.
    const send = transport.fetch ?? fetch
    const cut = this.#aborter.signal
    const response = send(encoded.url, { method: 'POST', headers: encoded.headers, body: encoded.body, redirect: 'manual', signal: cut })
    return await new Promise<Response>((resolve, reject) => {
      const onCut = (): void => reject(cut.reason)
      cut.addEventListener('abort', onCut, { once: true })
      response.then(
        (value) => {
          cut.removeEventListener('abort', onCut)
          if (cut.aborted) value.body?.cancel().catch(() => undefined)
          resolve(value)
        },
        (error: unknown) => {
          cut.removeEventListener('abort', onCut)
          reject(error)
        },
      )
    })
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const { decoder, signal } = this.#exchange
    let progress = decoder.progress
    while (!decoder.isDone) {
      let chunk: ReadableStreamReadResult<Uint8Array>
      try {
        chunk = await reader.read()
      } catch (error) {
        if (decoder.isComplete && !signal.aborted) return
        throw error
      }
      if (this.#aborter.signal.aborted) return this.#checkCut()
      if (chunk.done) break
      this.#stage = 'decode'
      decoder.push(chunk.value)
      this.#stage = 'read'
      const atMs = performance.now()
      this.#idle.touch(atMs)
      if (decoder.progress !== progress) {
        progress = decoder.progress
        this.#progress.touch(atMs)
      }
      if (decoder.isComplete) this.#idle.shorten(graceMs)
    }
    this.#stage = 'decode'
    if (!decoder.isDone) decoder.end()
  }

  /** Throws, unless the message was complete when the connection was cut. */
  #checkCut(): void {
    this.#exchange.signal.throwIfAborted()
    if (this.#stall !== undefined) throw new Error(this.#stall)
  }

  async #refused(response: Response, reader: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<ProviderError> {
    const { service, credential, emptyBodyIsOverflow } = this.#exchange
    const body = reader === undefined ? '' : await readText(reader)
    this.#checkCut()
    const failure: Failure = { service, headers: response.headers, body }
    if (!response.ok) failure.status = response.status
    if (credential !== undefined) failure.credential = credential
    if (emptyBodyIsOverflow !== undefined) failure.emptyBodyIsOverflow = emptyBodyIsOverflow
    return classifyError(failure)
  }

  #cause(error: unknown): ProviderError {
    const { service, signal, encoded, browserHint } = this.#exchange
    if (signal.aborted) return new ProviderError('cancelled', `The call to ${service} was cancelled: ${errorText(signal.reason)}`)
    if (this.#stall !== undefined) return new ProviderError('network', `${service} ${this.#stall}.`)
    if (error instanceof ProviderError) return error
    const text = transportText(error)
    if (this.#stage === 'decode') return new ProviderError('other', `Reading the answer of ${service} failed: ${text}`)
    if (this.#stage === 'read') return new ProviderError('network', `The connection to ${service} broke: ${text}`)
    const hint = browserHint === undefined ? '' : `, ${browserHint}`
    return new ProviderError(
      'network',
      `${service} could not be reached at ${new URL(encoded.url).origin}: ${text}. Check the network and baseUrl; in a browser the service may refuse calls from other origins: set baseUrl to a proxy${hint}.`,
    )
  }
}

function redirected(service: string, response: Response): ProviderError {
  response.body?.cancel().catch(() => undefined)
  const status = response.status === 0 ? '' : ` (${response.status})`
  const options: ProviderErrorOptions = { isRetryable: false }
  if (response.status !== 0) options.status = response.status
  return new ProviderError(
    'api',
    `${service} redirected the request${status}. Redirects are refused, because the key would go along: set baseUrl to the final address.`,
    options,
  )
}

function incomplete(service: string, decoder: StreamDecoder, response: Response): ProviderError {
  const type = response.headers.get('content-type')
  const was = decoder.builder.isStarted || type === null ? '' : ` (content-type ${type}: is baseUrl right?)`
  return new ProviderError('network', `The answer of ${service} ended without ${decoder.terminal}${was}.`)
}

/** The text of an error body, at most 64 KiB of it. What cannot be read is left out: the status says enough. */
async function readText(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    while (text.length < maxErrorBody) {
      const { done, value } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
    }
  } catch {
    // A broken connection: classify by status and what there is.
  }
  return text
}

/** Node hides the reason ("connect ECONNREFUSED …") in the cause. */
function transportText(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && cause.message !== '' ? `${errorText(error)} (${cause.message})` : errorText(error)
}
