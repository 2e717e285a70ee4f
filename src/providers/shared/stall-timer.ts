/** Longest time between two looks, in ms: a stall is noticed at most this much after its limit. */
const maxTickMs = 1000

/**
 * Calls `onStall` once, when `limitMs` have passed since the last `touch`.
 *
 * Touching is one store and reads no clock: time is counted in ticks of the timer, of which at least eight make up the limit. Time in which
 * the program does not run (a sleeping laptop) does not count.
 */
export class StallTimer {
  #ticks = 0
  #touchedAt = 0
  #limitMs = Number.POSITIVE_INFINITY
  #limitTicks = 0
  readonly #onStall: () => void
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(limitMs: number, onStall: () => void) {
    this.#onStall = onStall
    this.shorten(limitMs)
  }

  /** Something arrived. */
  touch(): void {
    this.#touchedAt = this.#ticks
  }

  /** From now on at most `limitMs` more may pass, if that is less. */
  shorten(limitMs: number): void {
    if (limitMs >= this.#limitMs) return
    const tickMs = Math.max(1, Math.min(maxTickMs, limitMs / 8))
    this.stop()
    this.touch()
    this.#limitMs = limitMs
    this.#limitTicks = Math.ceil(limitMs / tickMs)
    this.#timer = setInterval(this.#tick, tickMs)
  }

  /** Releases the timer. */
  stop(): void {
    clearInterval(this.#timer)
  }

  readonly #tick = (): void => {
    this.#ticks++
    // The tick under way when something arrived does not count: it may have been almost over.
    if (this.#ticks - this.#touchedAt <= this.#limitTicks) return
    this.stop()
    this.#onStall()
  }
}
