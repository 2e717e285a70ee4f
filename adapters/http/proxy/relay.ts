import { minSecret } from '../../../src/base/text/redact.ts'
import { timerMs } from '../../../src/base/timer.ts'
import { latin1 } from './usage-meter.ts'

/** How an answer ended: it came whole, its client left, or it broke. */
export type CallEnding = 'whole' | 'left' | 'broken'

/** What watches an answer that is passed on. */
export interface RelayOptions {
  /** What may not be passed on, as it stands in headers. */
  secrets: readonly string[]
  /** Milliseconds that the service may stay silent before its first byte, while the client waits. */
  firstByteTimeoutMs: number
  /** The same, behind it. */
  idleTimeoutMs: number
  /** Sees every chunk before it is passed on; `text` is a character per byte. */
  onChunk: (bytes: Uint8Array, text: string) => void
  /** Told once how it ended, and for how many ms the service was waited for; stops the upstream call. Nothing is left behind then. */
  onEnd: (ending: CallEnding, waitedMs: number, why?: string) => void
}

/** The relayed answer, and how to break it off. */
export interface Relay {
  body: ReadableStream<Uint8Array>
  /** Ends it as broken, for the client too. */
  cut(why: string): void
}

/** As many ticks make up the shorter of both times: a silence is noticed at most an eighth of it late. */
const ticksOfSilence = 8

/**
 * Passes the bytes of an answer on, untouched.
 *
 * **Contract**
 * - A chunk is read when the client asks for one, so a slow client slows the service down and nothing piles up.
 * - An answer that holds a secret is broken off before it is passed on. Only an end that may be the beginning of one waits for what follows.
 * - An answer that breaks off upstream breaks off for the client: an error of the stream, never a clean end.
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
    controller.error(new Error(`The answer was broken off: ${why}`))
  }
  let limitMs = options.firstByteTimeoutMs
  const tickMs = timerMs(Math.min(options.idleTimeoutMs, limitMs) / ticksOfSilence)
  const tick = (): void => {
    if (silentTicks !== undefined && ++silentTicks * tickMs > limitMs) cut(`the service sent nothing for ${Math.round(limitMs)} ms`)
  }
  const timer = setInterval(tick, tickMs)

  const pull = async (): Promise<void> => {
    silentTicks = 0
    waitsSince = performance.now()
    try {
      for (let next = await reader.read(); !isOver; next = await reader.read()) {
        limitMs = options.idleTimeoutMs
        const passed = next.done ? guard.end() : guard.pass(next.value, options.onChunk)
        if (passed === undefined) return cut('it held a secret of this server')
        if (passed.byteLength > 0) controller.enqueue(passed)
        if (next.done) {
          finish('whole')
          controller.close()
        }
        if (next.done || passed.byteLength > 0) return
      }
    } catch {
      // What the engine says may hold the address or more.
      cut('the connection to the service broke')
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
  // Nothing is read ahead.
  return { body: new ReadableStream({ start, pull, cancel }, { highWaterMark: 0 }), cut }
}

const nothing = new Uint8Array()

/** Looks for secrets in bytes that are cut anywhere. */
class SecretGuard {
  readonly #secrets: readonly string[]
  /** The end of what was passed on. */
  #before = ''
  #held: Uint8Array = nothing

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets
  }

  /** What of the bytes so far may be passed on; `undefined` where they hold a secret. */
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
    // Less than `minSecret` of a beginning may have been passed on already: the rest of it waits.
    hold = Math.min(hold, bytes.byteLength)
    this.#before = seen.slice(0, seen.length - hold).slice(1 - minSecret)
    this.#held = hold === 0 ? nothing : bytes.slice(bytes.byteLength - hold)
    return hold === 0 ? bytes : bytes.subarray(0, bytes.byteLength - hold)
  }

  /** What was held back, when nothing follows. */
  end(): Uint8Array {
    const held = this.#held
    this.#held = nothing
    return held
  }
}

/** How many characters at the end of `text` are the beginning of `secret`, where that is enough of it to matter. */
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
