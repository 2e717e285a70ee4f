import { parsedJson } from '../../../base/json/json-value.ts'
import { withoutSecret } from '../../../base/text/redact.ts'
import { ProviderError } from '../../../contract/errors.ts'
import { fieldIn } from '../../../contract/json.ts'
import type { AssistantMessage } from '../../../contract/message/message.ts'
import type { Exchange } from '../codec.ts'
import { type FailedCall, toProviderError } from '../errors/provider-failure.ts'
import { rateLimitsIn } from '../errors/rate-limits.ts'
import { sentBody } from '../optional/media/sent-body.ts'
import { type Patience, patienceOf, StallClock, withoutOwnTimeouts } from './stall-clock.ts'

type Reader = ReadableStreamDefaultReader<Uint8Array>

/** How long to wait for trailing frames after the message is complete, regardless of pings. Longer if the decoder expects more data. */
const trailingMs = 2_000
const owedMs = 15_000
/** Maximum bytes to read after the last event. Usually, nothing follows. */
const maxDrainBytes = 64 * 1024
const maxDrainMs = 1_000
/** Maximum characters of an error body. */
export const maxErrorBody = 64 * 1024
/** Maximum characters of a response that did not stream. */
const maxWhole = 16 * 1024 * 1024
/** Maximum bytes of one response, including framing. Far larger than any provider's longest response. */
const maxAnswerBytes = 256 * 1024 * 1024
const [openBrace, openBracket] = [0x7b, 0x5b]
/**
 * Abort reason for all calls: a new exception with a stack for each call would be expensive. Callers never see it: see {@link
 * toProviderError}.
 */
const isOver = 'the call is over'

/**
 * Sends a request and feeds the response to its decoder.
 *
 * **Contract**
 * - Resolves with the finished message when the decoder is done, even if the connection then hangs or breaks.
 * - Rejects only with `ProviderError`: rejections (see `classifyError`), `network` for transport errors, stalls and a missing terminal
 *   event, `cancelled` when `signal` aborts. `partial` contains the message received so far, if it had started.
 * - Rejects redirects, because a key must not follow them.
 * - After success, reads the rest of the body in the background, so that the connection can be reused. Stops after 64 KiB, about 2 s, or
 *   when `signal` aborts. Then removes all timers and listeners. On all other paths, removes them immediately.
 */
export async function sendStreaming(exchange: Exchange): Promise<AssistantMessage> {
  const call = new Call(exchange)
  let message: AssistantMessage | undefined
  let error: unknown
  try {
    message = await call.run()
  } catch (thrown) {
    error = thrown
  }
  if (message === undefined) {
    call.release()
    throw call.failure(error)
  }
  void call.drain()
  // The decoder reported why the response stopped.
  if (message.errorMessage !== undefined) message.errorMessage = withoutSecret(message.errorMessage, exchange.secrets())
  return message
}

class Call {
  readonly #exchange: Exchange
  readonly #aborter = new AbortController()
  readonly #clock: StallClock
  readonly #failed: FailedCall
  #reader: Reader | undefined
  /** Rejects the pending request. */
  #giveUp: ((reason: unknown) => void) | undefined
  /** Whether the body was fully read, so that there is nothing to cancel. */
  #hasEnded = false

  constructor(exchange: Exchange) {
    this.#exchange = exchange
    exchange.decoder.builder.warnings = exchange.call.warnings
    this.#failed = { exchange, stage: 'open' }
    this.#clock = new StallClock(exchange.transport, this.#stalled)
    exchange.signal.addEventListener('abort', this.#cut)
  }

  /** Returns the message, or `undefined` for a rejection and for a missing terminal event. */
  async run(): Promise<AssistantMessage | undefined> {
    const { signal, decoder } = this.#exchange
    signal.throwIfAborted()
    const response = await this.#open()
    this.#failed.response = response
    this.#failed.limits = rateLimitsIn(response.headers)
    if (this.#failed.limits !== undefined) this.#exchange.onRateLimits?.(this.#failed.limits)
    const contentType = response.headers.get('content-type') ?? ''
    const reader = response.body?.getReader()
    this.#reader = reader
    this.#hasEnded = reader === undefined
    // The response may have arrived despite an abort.
    if (this.#aborter.signal.aborted) this.#cut()
    if (!response.ok) {
      this.#clock.endWithin(owedMs)
      await this.#refused(reader)
      return undefined
    }
    this.#failed.stage = 'read'
    decoder.begin?.(contentType)
    if (reader !== undefined) await this.#read(reader, contentType.includes('ndjson'))
    if (this.#failed.body !== undefined) return undefined
    this.#failed.stage = 'decode'
    return decoder.isComplete ? decoder.finish() : undefined
  }

  failure(error: unknown): ProviderError {
    this.#failed.error = error
    return toProviderError(this.#failed)
  }

  /** Reads the rest of the body within limits, and releases the call. Never rejects. */
  async drain(): Promise<void> {
    this.#clock.endWithin(maxDrainMs)
    let bytes = 0
    try {
      while (!this.#hasEnded && this.#reader !== undefined && bytes <= maxDrainBytes) {
        const { done, value } = await this.#reader.read()
        if (done) this.#hasEnded = true
        else bytes += value.length
      }
    } catch {
      // The message is complete, so ignore a broken connection.
    }
    this.release()
  }

  /** Removes the timer and listener, and cancels an unfinished response. */
  release(): void {
    this.#clock.stop()
    this.#exchange.signal.removeEventListener('abort', this.#cut)
    this.#cut()
  }

  /** Closes the connection. A pending read ends immediately, even if the engine or an injected fetch ignores its signal. */
  readonly #cut = (): void => {
    if (this.#hasEnded) return
    this.#aborter.abort(isOver)
    this.#giveUp?.(isOver)
    this.#reader?.cancel().catch(() => undefined)
  }

  readonly #stalled = (limit: keyof Patience): void => {
    const { decoder, transport } = this.#exchange
    const what = limit === 'progressTimeoutMs' ? 'no content' : 'nothing'
    if (!decoder.isComplete) this.#failed.stall = `sent ${what} for ${patienceOf(transport, limit)} ms (${limit})`
    this.#cut()
  }

  /** Races the request against an abort, because an injected fetch may ignore its signal. */
  #open(): Promise<Response> {
    const { call, transport } = this.#exchange
    const { signal } = this.#aborter
    // Use a local variable, because fetch must not be called as a method of another object.
    const send = transport.fetch ?? fetch
    const isOurs = transport.fetch === undefined
    const own = isOurs ? withoutOwnTimeouts() : {}
    // Pass a copy of the headers: an injected fetch may change it, and redaction reads the original.
    const sent = call.media === undefined ? { headers: { ...call.headers }, body: call.body } : sentBody(call, call.media, isOurs)
    return new Promise((resolve, reject) => {
      this.#giveUp = reject
      send(call.url, { method: 'POST', ...sent, redirect: 'manual', signal, ...own }).then((response) => {
        if (signal.aborted) response.body?.cancel().catch(() => undefined)
        resolve(response)
      }, reject)
    })
  }

  async #read(reader: Reader, isStreamed: boolean): Promise<void> {
    const { decoder, signal, service } = this.#exchange
    let progress = decoder.progress
    let hasEnded = false
    let isStream = isStreamed
    let bytes = 0
    while (!decoder.isDone) {
      let chunk: ReadableStreamReadResult<Uint8Array>
      try {
        chunk = await reader.read()
      } catch (error) {
        // After a stall, the abort makes the read fail.
        if (decoder.isComplete && !signal.aborted && (decoder.owed !== 'content' || this.#aborter.signal.aborted)) return
        throw error
      }
      if (this.#aborter.signal.aborted) {
        // The caller or a stall aborted the read. This is not a failure after the terminal event.
        if (signal.aborted || !decoder.isComplete) throw signal.reason
        return
      }
      if (chunk.done) return this.#end()
      bytes += chunk.value.length
      if (bytes > maxAnswerBytes) throw endless(service)
      if (!isStream) {
        const first = chunk.value.find(isInk)
        isStream = first !== undefined
        // Ignore the content type: no event starts with these bytes.
        if (first === openBrace || first === openBracket) return this.#readWhole(reader, chunk.value)
      }
      this.#push(chunk.value)
      const isContent = decoder.progress !== progress
      progress = decoder.progress
      this.#clock.touch(isContent)
      if (decoder.isComplete && (isContent || !hasEnded)) {
        hasEnded = true
        this.#clock.endWithin(decoder.owed === undefined ? trailingMs : owedMs)
      }
    }
  }

  /** Decodes bytes. Ignores data after the end of the response, in the same packet or the next. */
  #push(bytes: Uint8Array): void {
    const { decoder } = this.#exchange
    this.#failed.stage = 'decode'
    try {
      decoder.push(bytes)
    } catch (error) {
      if (!decoder.isDone) throw error
    }
    this.#failed.stage = 'read'
  }

  /** Reads a response that is one JSON text instead of a stream, usually an error. */
  async #readWhole(reader: Reader, first: Uint8Array): Promise<void> {
    this.#clock.touch(false)
    const { decoder, service, transport } = this.#exchange
    const text = await this.#readText(reader, transport.maxEventChars ?? maxWhole, first)
    if (this.#aborter.signal.aborted) throw this.#exchange.signal.reason
    if (isErrorObject(text)) return this.#refused(undefined, text)
    this.#failed.stage = 'decode'
    // JSON has line breaks only between its parts.
    if (decoder.begin === undefined) decoder.push(new TextEncoder().encode(`data: ${text.replace(/[\r\n]/g, ' ')}\n\n`))
    if (decoder.isComplete) return
    throw new ProviderError(
      'api',
      `${service} did not stream: it returned JSON that is not an event. Check baseUrl and any proxy before the provider.`,
    )
  }

  async #refused(reader: Reader | undefined, text?: string): Promise<void> {
    this.#failed.stage = 'refused'
    this.#failed.body = text ?? (await this.#readText(reader, maxErrorBody))
  }

  /** Decodes the last frame. Ignores a truncated frame, because the error about the missing terminal event is clearer. */
  #end(): void {
    const { decoder } = this.#exchange
    this.#hasEnded = true
    try {
      decoder.end()
    } catch (error) {
      if (!ProviderError.isInstance(error) || (decoder.isComplete && decoder.owed === 'content')) throw error
    }
  }

  /**
   * Returns at most `most` characters of a body that is not a stream. Drops unreadable parts, because the status is sufficient for an
   * error.
   */
  async #readText(reader: Reader | undefined, most: number, first?: Uint8Array): Promise<string> {
    const decoder = new TextDecoder()
    let text = decoder.decode(first, { stream: true })
    try {
      while (reader !== undefined && text.length < most) {
        const { done, value } = await reader.read()
        if (done) {
          this.#hasEnded = true
          break
        }
        if (first !== undefined) this.#clock.touch(false)
        text += decoder.decode(value, { stream: true })
      }
    } catch {
      // Ignore a broken connection.
    }
    return text
  }
}

/** Matches anything but white space and a byte order mark. */
function isInk(byte: number): boolean {
  return byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf
}

function isErrorObject(text: string): boolean {
  const value = parsedJson(text)
  const one: unknown = Array.isArray(value) ? value[0] : value
  return ['error', 'errors', 'message', 'Message', 'detail'].some((name) => Boolean(fieldIn(one, name)))
}

/** Creates the error for a response that exceeds the size limit. Such a response may never end. */
function endless(service: string): ProviderError {
  return new ProviderError('network', `The response of ${service} exceeds ${maxAnswerBytes} bytes. Check baseUrl.`, {
    isRetryable: false,
  })
}
