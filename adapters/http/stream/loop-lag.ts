/** Milliseconds between two looks. */
const lookMs = 100

/**
 * How late the event loop is: how much longer than asked a timer took, in the last look. A process that is busy answers everybody late. It looks only while it is
 * asked: where nobody has asked for a while its timer is gone.
 */
export class LoopLag {
  #timer: ReturnType<typeof setTimeout> | undefined
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
    const at = performance.now()
    this.#timer = setTimeout(() => {
      const now = performance.now()
      this.#lagMs = Math.max(0, now - at - lookMs)
      this.#timer = undefined
      if (now - this.#askedAt < 100 * lookMs) this.#look()
    }, lookMs)
    // A process that has nothing else to do may end.
    if (typeof this.#timer === 'object') this.#timer.unref?.()
  }
}
