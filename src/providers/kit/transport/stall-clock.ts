/** Longest time between two looks, in ms: a stall is noticed at most this much after its limit. */
const maxTickMs = 1000

/** What was missing for too long: any byte at all, or content. */
export type Stall = 'bytes' | 'content'

/**
 * Watches one response: calls `onStall` once, when nothing came for `idleMs`, or no content for `progressMs`.
 *
 * Touching is one store and reads no clock: time is counted in ticks of the one timer, of which at least eight make up the shorter limit.
 * Time in which the program does not run (a sleeping laptop) does not count.
 */
export class StallClock {
  #ticks = 0
  #bytesAt = 0
  #contentAt = 0
  #idleTicks: number
  readonly #progressTicks: number
  readonly #tickMs: number
  readonly #onStall: (stall: Stall) => void
  readonly #timer: ReturnType<typeof setInterval>

  constructor(idleMs: number, progressMs: number, onStall: (stall: Stall) => void) {
    this.#tickMs = Math.max(1, Math.min(maxTickMs, idleMs / 8, progressMs / 8))
    this.#idleTicks = Math.ceil(idleMs / this.#tickMs)
    this.#progressTicks = Math.ceil(progressMs / this.#tickMs)
    this.#onStall = onStall
    this.#timer = setInterval(this.#tick, this.#tickMs)
  }

  /** Bytes arrived. */
  touch(): void {
    this.#bytesAt = this.#ticks
  }

  /** Content arrived. */
  touchContent(): void {
    this.#contentAt = this.#ticks
  }

  /** From now on at most `ms` more may pass without a byte, if that is less. */
  shorten(ms: number): void {
    const ticks = Math.ceil(ms / this.#tickMs)
    if (ticks >= this.#idleTicks) return
    this.#idleTicks = ticks
    this.touch()
  }

  /** Releases the timer. */
  stop(): void {
    clearInterval(this.#timer)
  }

  readonly #tick = (): void => {
    this.#ticks++
    // The tick under way when something arrived does not count: it may have been almost over.
    const isIdle = this.#ticks - this.#bytesAt > this.#idleTicks
    if (!isIdle && this.#ticks - this.#contentAt <= this.#progressTicks) return
    this.stop()
    this.#onStall(isIdle ? 'bytes' : 'content')
  }
}
