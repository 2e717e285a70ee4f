import { minSecret } from '../../../src/base/text/redact.ts'
import { timerMs } from '../../../src/base/timer.ts'
import { latin1 } from './usage-meter.ts'

/** How a response ended: complete, client disconnected, or broken. */
export type CallEnding = 'whole' | 'left' | 'broken'

/** Callbacks and limits for a forwarded response. */
export interface RelayOptions {
  /** Secrets that must not be forwarded, in the form used in headers. */
  secrets: readonly string[]
  /** Maximum milliseconds until the first byte, while the client waits. */
  firstByteTimeoutMs: number
  /** Maximum milliseconds between two later bytes. */
  idleTimeoutMs: number
  /** Receives every chunk before it is forwarded. `text` has one character per byte. */
  onChunk: (bytes: Uint8Array, text: string) => void
  /** Called once with the end and the milliseconds waited for the provider. Stops the upstream call. */
  onEnd: (ending: CallEnding, waitedMs: number, why?: string) => void
}

/** The forwarded response, and a function that aborts it. */
export interface Relay {
  body: ReadableStream<Uint8Array>
  /** Aborts the response, so that the client receives a stream error. */
  cut(why: string): void
}

/** Timer ticks per timeout. Detects a timeout with a delay of at most an eighth of it. */
const ticksOfSilence = 8

/**
 * Forwards the bytes of a response unchanged.
 *
 * **Contract**
 * - Reads a chunk when the client requests one, so a slow client slows down the provider instead of growing a buffer.
 * - Aborts a response before forwarding a secret. Buffers only a tail that may be the beginning of a secret.
 * - A response that breaks upstream ends with a stream error for the client, never cleanly.
 */
export function relay(source: ReadableStream<Uint8Array>, options: RelayOptions): Relay {
  const reader = source.getReader()
  const guard = new SecretGuard(options.secrets)
  let controller: ReadableStreamDefaultController<Uint8Array>
  let silentTicks: number | undefined
  let isOver = false
  let waitedMs = 0
  let waitsSince: number | undefined
  const stopWaiting = (): void => {
    if (waitsSince !== undefined) waitedMs += performance.now() - waitsSince
    waitsSince = undefined
  }
  const finish = (ending: CallEnding, why?: string): void => {
    isOver = true
    clearInterval(timer)
    stopWaiting()
    if (ending !== 'whole') reader.cancel().catch(() => undefined)
    options.onEnd(ending, waitedMs, why)
  }
  const cut = (why: string): void => {
    if (isOver) return
    finish('broken', why)
    controller.error(new Error(`The response was interrupted: ${why}`))
  }
  let limitMs = options.firstByteTimeoutMs
  const tickMs = timerMs(Math.min(options.idleTimeoutMs, limitMs) / ticksOfSilence)
  const tick = (): void => {
    if (silentTicks !== undefined && ++silentTicks * tickMs > limitMs) cut(`the provider sent nothing for ${Math.round(limitMs)} ms`)
  }
  const timer = setInterval(tick, tickMs)

  const pull = async (): Promise<void> => {
    silentTicks = 0
    waitsSince = performance.now()
    try {
      for (let next = await reader.read(); !isOver; next = await reader.read()) {
        limitMs = options.idleTimeoutMs
        const passed = next.done ? guard.end() : guard.pass(next.value, options.onChunk)
        if (passed === undefined) return cut('it contained a secret of this server')
        if (passed.byteLength > 0) controller.enqueue(passed)
        if (next.done) {
          finish('whole')
          controller.close()
        }
        if (next.done || passed.byteLength > 0) return
      }
    } catch {
      // Hide the engine's error, which may contain the URL.
      cut('the connection to the provider broke')
    } finally {
      silentTicks = undefined
      stopWaiting()
    }
  }
  const start = (given: ReadableStreamDefaultController<Uint8Array>): void => {
    controller = given
  }
  const cancel = (): void => {
    if (!isOver) finish('left')
  }
  // Disable read-ahead.
  return { body: new ReadableStream({ start, pull, cancel }, { highWaterMark: 0 }), cut }
}

const nothing = new Uint8Array()

/** Searches for secrets in arbitrarily split bytes. */
class SecretGuard {
  readonly #secrets: readonly string[]
  /** The last forwarded characters. */
  #before = ''
  #held: Uint8Array = nothing

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets
  }

  /** Returns the bytes that can be forwarded now, or `undefined` if they contain a secret. */
  pass(chunk: Uint8Array, onChunk: RelayOptions['onChunk']): Uint8Array | undefined {
    const text = latin1.decode(chunk)
    onChunk(chunk, text)
    const bytes = this.#held.byteLength === 0 ? chunk : joined(this.#held, chunk)
    const seen = this.#before + (this.#held.byteLength === 0 ? '' : latin1.decode(this.#held)) + text
    let hold = 0
    for (const secret of this.#secrets) {
      if (seen.includes(secret)) return undefined
      hold = Math.max(hold, beginningAtEnd(seen, secret))
    }
    // Fewer than `minSecret` characters of a secret's beginning may already be forwarded. Buffer the rest.
    hold = Math.min(hold, bytes.byteLength)
    this.#before = seen.slice(0, seen.length - hold).slice(1 - minSecret)
    this.#held = hold === 0 ? nothing : bytes.slice(bytes.byteLength - hold)
    return hold === 0 ? bytes : bytes.subarray(0, bytes.byteLength - hold)
  }

  /** Returns the buffered bytes at the end. */
  end(): Uint8Array {
    const held = this.#held
    this.#held = nothing
    return held
  }
}

/** Returns how many characters at the end of `text` are the beginning of `secret`, if there are enough of them to reveal it. */
function beginningAtEnd(text: string, secret: string): number {
  const head = secret.slice(0, minSecret)
  for (let at = text.indexOf(head, Math.max(0, text.length - secret.length + 1)); at >= 0; at = text.indexOf(head, at + 1)) {
    if (secret.startsWith(text.slice(at))) return text.length - at
  }
  return 0
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.byteLength + b.byteLength)
  bytes.set(a)
  bytes.set(b, a.byteLength)
  return bytes
}
