/** Milliseconds between measurements. */
const lookMs = 100

/**
 * Measures the event loop delay, as the delay of the last timer. The timer stops if the value is not read for a while.
 */
export class LoopLag {
  #timer: ReturnType<typeof setInterval> | undefined
  #lagMs = 0
  #askedAt = Number.NEGATIVE_INFINITY

  /** Returns the delay in milliseconds, or 0 on the first read. */
  get ms(): number {
    this.#askedAt = performance.now()
    if (this.#timer === undefined) {
      this.#lagMs = 0
      this.#look()
    }
    return this.#lagMs
  }

  #look(): void {
    let at = performance.now()
    const timer = setInterval(() => {
      const now = performance.now()
      this.#lagMs = Math.max(0, now - at - lookMs)
      at = now
      if (now - this.#askedAt < 100 * lookMs) return
      clearInterval(timer)
      this.#timer = undefined
    }, lookMs)
    this.#timer = timer
    // Let an idle process exit.
    if (typeof timer === 'object') timer.unref?.()
  }
}
