/** Milliseconds between two looks. */
const lookMs = 100

/**
 * How late the event loop is: how much longer than asked a timer took, in the last look. A process that is busy answers everybody late. It looks only while it is
 * asked: where nobody has asked for a while its timer is gone.
 */
export class LoopLag {
  #timer: ReturnType<typeof setInterval> | undefined
  #lagMs = 0
  #askedAt = Number.NEGATIVE_INFINITY

  /** Milliseconds. The first one to ask gets 0. */
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
    // A process that has nothing else to do may end.
    if (typeof timer === 'object') timer.unref?.()
  }
}
