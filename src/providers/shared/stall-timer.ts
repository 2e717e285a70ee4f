/**
 * Calls `onStall` once, when `limitMs` have passed since the last `touch`. Touching is one store: the timer re-arms itself for what is
 * left when it fires, so that a busy stream pays nothing for it.
 */
export class StallTimer {
  #lastMs: number
  #limitMs: number
  readonly #onStall: () => void
  #timer: ReturnType<typeof setTimeout>

  constructor(limitMs: number, onStall: () => void) {
    this.#limitMs = limitMs
    this.#onStall = onStall
    this.#lastMs = performance.now()
    this.#timer = setTimeout(this.#check, limitMs)
  }

  /** Something arrived at `atMs` (`performance.now()`). */
  touch(atMs: number): void {
    this.#lastMs = atMs
  }

  /** From now on at most `limitMs` more may pass. */
  shorten(limitMs: number): void {
    if (limitMs >= this.#limitMs) return
    this.#limitMs = limitMs
    this.stop()
    this.#timer = setTimeout(this.#check, limitMs)
  }

  /** Releases the timer. */
  stop(): void {
    clearTimeout(this.#timer)
  }

  readonly #check = (): void => {
    const leftMs = this.#lastMs + this.#limitMs - performance.now()
    // Timers may fire up to a millisecond early.
    if (leftMs > 1) this.#timer = setTimeout(this.#check, leftMs)
    else this.#onStall()
  }
}
