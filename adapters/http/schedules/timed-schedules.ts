import { timerMs } from '../../../src/base/timer.ts'
import type { Logger } from '../../../src/index.ts'
import type { SessionAddress } from '../access/authorize.ts'
import type { ScheduleStore } from './schedule-store.ts'
import { Scheduler } from './scheduler.ts'
import { SessionSchedules } from './session-schedules.ts'

/** A long-lived process's schedules, with one timer for the next prompt among all sessions. */
export class TimedSchedules {
  readonly #store: ScheduleStore
  readonly #scheduler: Scheduler
  #isOver = false
  #timer: ReturnType<typeof setTimeout> | undefined

  /** Starts immediately and sends prompts that became due while no process ran. */
  constructor(
    store: ScheduleStore,
    say: (address: SessionAddress, text: string, key: string) => Promise<void>,
    logger: Logger | false | undefined,
  ) {
    this.#store = store
    this.#scheduler = new Scheduler({
      store,
      logger,
      say: ({ address, prompt }, key) => say(address, prompt, key),
      arm: (at) => this.#arm(at),
    })
    void this.#scheduler.wake()
  }

  /** Returns the schedules of one session. */
  of(address: SessionAddress): SessionSchedules {
    return new SessionSchedules(this.#store, address, () => this.#scheduler.wake())
  }

  /** Stops and clears the timer. */
  end(): Promise<void> {
    this.#isOver = true
    return this.#scheduler.end()
  }

  #arm(at: number | undefined): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { lookMs = Number.POSITIVE_INFINITY } = this.#store
    const waitMs = Math.min(lookMs, at === undefined ? Number.POSITIVE_INFINITY : Math.max(0, at - Date.now()))
    if (this.#isOver || waitMs === Number.POSITIVE_INFINITY) return
    this.#timer = setTimeout(() => void this.#scheduler.wake(), timerMs(waitMs))
    // Let an idle process exit.
    if (typeof this.#timer === 'object') this.#timer.unref?.()
  }
}
