import { ProviderError } from '../../types/errors.ts'
import type { AssistantMessage } from '../../types/message.ts'
import type { Exchange } from './exchange.ts'
import type { FailedCall } from './failure.ts'
import { StallTimer } from './stall-timer.ts'

type Reader = ReadableStreamDefaultReader<Uint8Array>

const defaultIdleMs = 60_000
const defaultProgressMs = 300_000
/** How long trailing frames are waited for once the message is complete. */
const graceMs = 2_000
const maxErrorBody = 64 * 1024
/** Given as the reason, because without one every call would build an exception with a stack. Nobody sees it: see `failure.ts`. */
const isOver = 'the call is over'

/**
 * Sends a request and feeds the response to its decoder.
 *
 * **Contract**
 * - Resolves with the finished message as soon as the decoder is done, also when the connection then hangs or breaks.
 * - Rejects only with `ProviderError`: refusals (see `classifyError`), `network` for transport, stalls and an end without the terminal
 *   event, `cancelled` when `signal` aborts. `partial` holds what came once the message had started.
 * - Redirects are refused: a key must not follow them.
 * - On every path the body is cancelled and no timer or listener is left.
 *
 * Source: reference/providers.md §0, reference/reliability.md §3.
 */
export async function sendStreaming(exchange: Exchange): Promise<AssistantMessage> {
  const call = new Call(exchange)
  let error: unknown
  try {
    const message = await call.run()
    if (message !== undefined) return message
  } catch (thrown) {
    error = thrown
  } finally {
    call.release()
  }
  throw await call.failure(error)
}

class Call {
  readonly #exchange: Exchange
  readonly #aborter = new AbortController()
  readonly #idle: StallTimer
  readonly #progress: StallTimer
  readonly #failed: FailedCall
  #reader: Reader | undefined

  constructor(exchange: Exchange) {
    this.#exchange = exchange
    exchange.decoder.builder.warnings = exchange.encoded.warnings
    this.#failed = { exchange, stage: 'open' }
    const { idleTimeoutMs = defaultIdleMs, progressTimeoutMs = defaultProgressMs } = exchange.transport
    this.#idle = new StallTimer(idleTimeoutMs, () => this.#stalled(`sent nothing for ${idleTimeoutMs} ms (idleTimeoutMs)`))
    this.#progress = new StallTimer(progressTimeoutMs, () =>
      this.#stalled(`sent no content for ${progressTimeoutMs} ms (progressTimeoutMs)`),
    )
    exchange.signal.addEventListener('abort', this.#cut)
  }

  /** The message; `undefined` for a refusal and for an end without the terminal event. */
  async run(): Promise<AssistantMessage | undefined> {
    const { signal, decoder } = this.#exchange
    signal.throwIfAborted()
    const response = await this.#open()
    this.#failed.response = response
    const contentType = response.headers.get('content-type') ?? ''
    const reader = response.body?.getReader()
    this.#reader = reader
    // The response may have come in spite of an abort.
    if (this.#aborter.signal.aborted) this.#cut()
    // A server that answers in plain JSON has not understood that it should stream; mostly it is an error with status 200.
    if (!response.ok || contentType.startsWith('application/json')) {
      this.#failed.stage = 'refused'
      this.#failed.body = await readText(reader)
    } else {
      this.#failed.stage = 'read'
      decoder.begin?.(contentType)
      if (reader !== undefined) await this.#read(reader)
      this.#failed.stage = 'decode'
      if (decoder.isComplete) return decoder.finish()
    }
    return undefined
  }

  /** In words. Without the module that has them (it could not be loaded), the code at least is right. */
  async failure(error: unknown): Promise<ProviderError> {
    this.#failed.error = error
    try {
      const { failureOf } = await import('./failure.ts')
      return failureOf(this.#failed)
    } catch {
      const { signal, service, decoder } = this.#exchange
      const message = `The call to ${service} failed.`
      const stopReason = signal.aborted ? 'aborted' : 'error'
      const options = decoder.builder.isStarted ? { partial: decoder.builder.fail(stopReason, message) } : {}
      return new ProviderError(signal.aborted ? 'cancelled' : 'network', message, options)
    }
  }

  release(): void {
    this.#idle.stop()
    this.#progress.stop()
    this.#exchange.signal.removeEventListener('abort', this.#cut)
    this.#cut()
  }

  /** Cuts the connection. A pending read then ends at once, whatever the engine or an injected fetch does with its signal. */
  readonly #cut = (): void => {
    this.#aborter.abort(isOver)
    this.#reader?.cancel().catch(() => undefined)
  }

  #stalled(what: string): void {
    if (!this.#exchange.decoder.isComplete) this.#failed.stall = what
    this.#cut()
  }

  /** Races the fetch against the cut: an injected one may not listen to its signal. */
  #open(): Promise<Response> {
    const { encoded, transport } = this.#exchange
    const { signal } = this.#aborter
    // A local, because fetch must not be called as a method of another object.
    const send = transport.fetch ?? fetch
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      send(encoded.url, { method: 'POST', headers: encoded.headers, body: encoded.body, redirect: 'manual', signal }).then((response) => {
        if (signal.aborted) response.body?.cancel().catch(() => undefined)
        resolve(response)
      }, reject)
    })
  }

  async #read(reader: Reader): Promise<void> {
    const { decoder, signal } = this.#exchange
    const failed = this.#failed
    let progress = decoder.progress
    while (!decoder.isDone) {
      let chunk: ReadableStreamReadResult<Uint8Array>
      try {
        chunk = await reader.read()
      } catch (error) {
        if (decoder.isComplete && !signal.aborted) return
        throw error
      }
      if (this.#aborter.signal.aborted) {
        // By the caller, or by a stall: after the terminal event that is no failure.
        if (signal.aborted || !decoder.isComplete) throw signal.reason
        return
      }
      if (chunk.done) return this.#end()
      failed.stage = 'decode'
      decoder.push(chunk.value)
      failed.stage = 'read'
      this.#idle.touch()
      if (decoder.progress !== progress) {
        progress = decoder.progress
        this.#progress.touch()
      }
      if (decoder.isComplete) this.#idle.shorten(graceMs)
    }
  }

  /** A frame that is cut off cannot be read; that the terminal event is missing says more. */
  #end(): void {
    try {
      this.#exchange.decoder.end()
    } catch (error) {
      if (!ProviderError.isInstance(error)) throw error
    }
  }
}

/** The text of an error body, at most 64 KiB of it. What cannot be read is left out: the status says enough. */
async function readText(reader: Reader | undefined): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  try {
    while (reader !== undefined && text.length < maxErrorBody) {
      const { done, value } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
    }
  } catch {
    // A broken connection.
  }
  return text
}
