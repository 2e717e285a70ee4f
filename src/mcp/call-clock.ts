import { startTimer } from '../base/timer.ts'

/** A call's time limits, in milliseconds. */
export interface CallLimits {
  /** Maximum time until the first progress notification, and between notifications. */
  timeoutMs: number
  /** Maximum time for the whole call. */
  totalTimeoutMs: number
}

/** Name of the limit that expired. */
export type ExpiredLimit = keyof CallLimits

/**
 * Measures one call: an idle timeout that progress resets, within a total timeout.
 *
 * **Contract**
 * - Calls `onExpired` at most once. No timer remains after `stop`.
 * - While paused, neither limit advances. Resuming restarts the idle timeout.
 */
export class CallClock {
  readonly #timeoutMs: number
  readonly #onExpired: (limit: ExpiredLimit) => void
  #totalLeft: number
  #resumedAt = 0
  #pauses = 0
  #isOver = false
  #stopTimer: (() => void) | undefined
  #stopTotal: (() => void) | undefined

  constructor({ timeoutMs, totalTimeoutMs }: CallLimits, onExpired: (limit: ExpiredLimit) => void) {
    this.#timeoutMs = timeoutMs
    this.#totalLeft = totalTimeoutMs
    this.#onExpired = onExpired
    this.#resume()
  }

  /** Restarts the idle timeout. */
  reset(): void {
    if (this.#isOver || this.#pauses > 0) return
    this.#stopTimer?.()
    this.#stopTimer = startTimer(this.#timeoutMs, () => this.#expire('timeoutMs'))
  }

  /** Pauses both timers. Call the returned function to resume. */
  pause(): () => void {
    if (this.#pauses === 0 && !this.#isOver) {
      this.#halt()
      this.#totalLeft -= performance.now() - this.#resumedAt
    }
    this.#pauses += 1
    let isPaused = true
    return () => {
      if (!isPaused) return
      isPaused = false
      this.#pauses -= 1
      if (this.#pauses === 0 && !this.#isOver) this.#resume()
    }
  }

  /** Stops both timers permanently. */
  stop(): void {
    this.#isOver = true
    this.#halt()
  }

  #resume(): void {
    this.#resumedAt = performance.now()
    this.#stopTotal = startTimer(Math.max(0, this.#totalLeft), () => this.#expire('totalTimeoutMs'))
    this.reset()
  }

  #halt(): void {
    this.#stopTimer?.()
    this.#stopTotal?.()
  }

  #expire(limit: ExpiredLimit): void {
    this.stop()
    this.#onExpired(limit)
  }
}
