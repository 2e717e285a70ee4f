import { startTimer } from '../base/timer.ts'

/** How long a call may take, in ms. */
export interface CallLimits {
  /** Until the first progress, and from one to the next. */
  timeoutMs: number
  /** For the whole call. */
  totalTimeoutMs: number
}

/** What runs out: the time since the last progress, or that of the whole call. */
export type ExpiredLimit = keyof CallLimits

/**
 * The clock of one call: a time that progress resets, within a total that nothing resets.
 *
 * **Contract**
 * - `onExpired` is called at most once. After `stop` no timer is left.
 * - While it is paused, no time passes for either limit; afterwards the time since the last progress starts anew.
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

  /** Starts the time since the last progress anew. */
  reset(): void {
    if (this.#isOver || this.#pauses > 0) return
    this.#stopTimer?.()
    this.#stopTimer = startTimer(this.#timeoutMs, () => this.#expire('timeoutMs'))
  }

  /** Stops both times; the function that it returns starts them again. */
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

  /** Ends it: nothing expires any more. */
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
