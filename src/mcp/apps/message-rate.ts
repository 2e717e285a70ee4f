/** Messages that a frame may send at once, and per second after that. */
const burst = 200
const perSecond = 50

/** Limits how many messages a frame may send. */
export class MessageRate {
  #left = burst
  #at = Date.now()

  /** Counts a message. Returns `false` if there were too many. */
  admits(): boolean {
    const now = Date.now()
    // A clock that goes back refills nothing.
    this.#left = Math.min(burst, this.#left + (Math.max(0, now - this.#at) * perSecond) / 1000)
    this.#at = now
    this.#left -= 1
    return this.#left >= 0
  }
}
