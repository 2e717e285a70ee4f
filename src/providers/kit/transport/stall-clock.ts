import { type Patience, patienceOf } from './patience.ts'

/** Longest time between two looks, in ms: a stall is noticed at most this much after its limit. */
const maxTickMs = 1000

/**
 * Watches one response: calls `onStall` once with the limit that was reached.
 *
 * Touching is two stores and reads no clock: time is counted in ticks of the one timer, of which at least eight make up the shortest limit.
 * Time in which the program does not run (a sleeping laptop) does not count.
 */
export class StallClock {
  #ticks = 0
  #bytesAt = 0
  #contentAt = 0
  #hasBytes = false
  #hasContent = false
  /** The tick at which what follows the response is no longer waited for. */
  #endsAt = Number.POSITIVE_INFINITY
  readonly #firstTicks: number
  readonly #idleTicks: number
  readonly #progressTicks: number
  readonly #tickMs: number
  readonly #onStall: (limit: keyof Patience) => void
  readonly #timer: ReturnType<typeof setInterval>

  constructor(patience: Patience, onStall: (limit: keyof Patience) => void) {
    const first = patienceOf(patience, 'firstByteTimeoutMs')
    const idle = patienceOf(patience, 'idleTimeoutMs')
    const progress = patienceOf(patience, 'progressTimeoutMs')
    this.#tickMs = Math.max(1, Math.min(maxTickMs, first / 8, idle / 8, progress / 8))
    this.#firstTicks = Math.ceil(first / this.#tickMs)
    this.#idleTicks = Math.ceil(idle / this.#tickMs)
    this.#progressTicks = Math.ceil(progress / this.#tickMs)
    this.#onStall = onStall
    this.#timer = setInterval(this.#tick, this.#tickMs)
  }

  /** Bytes arrived. */
  touch(): void {
    this.#bytesAt = this.#ticks
    this.#hasBytes = true
  }

  /** Content arrived. */
  touchContent(): void {
    this.#contentAt = this.#ticks
    this.#hasContent = true
  }

  /** Ends the wait `ms` from now, whatever bytes arrive meanwhile: pings do not restart it. Another call does. */
  endWithin(ms: number): void {
    this.touch()
    this.#endsAt = this.#ticks + Math.ceil(ms / this.#tickMs)
  }

  /** Releases the timer. */
  stop(): void {
    clearInterval(this.#timer)
  }

  readonly #tick = (): void => {
    this.#ticks++
    const limit = this.#reached()
    if (limit === undefined) return
    this.stop()
    this.#onStall(limit)
  }

  /** The tick under way when something arrived does not count: it may have been almost over. */
  #reached(): keyof Patience | undefined {
    if (this.#ticks > this.#endsAt) return 'idleTimeoutMs'
    const silent = this.#ticks - this.#bytesAt
    if (silent > (this.#hasBytes ? this.#idleTicks : this.#firstTicks)) return this.#hasBytes ? 'idleTimeoutMs' : 'firstByteTimeoutMs'
    // Who may take long to begin may say so meanwhile.
    const most = this.#hasContent ? this.#progressTicks : Math.max(this.#firstTicks, this.#progressTicks)
    return this.#ticks - this.#contentAt > most ? 'progressTimeoutMs' : undefined
  }
}
