import { timerMs } from '../../../src/base/timer.ts'

/**
 * Repeats an action: after an interval, or when it is woken, and never concurrently. Its timer does not keep the process alive.
 */
export class Repeating {
  readonly #everyMs: number
  readonly #act: () => Promise<void>
  #timer: ReturnType<typeof setTimeout> | undefined
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  #isStopped = false

  /** `act` never rejects. */
  constructor(everyMs: number, act: () => Promise<void>) {
    this.#everyMs = everyMs
    this.#act = act
    this.#wait()
  }

  /** Resolves once a run of the action that starts after this call has ended. */
  wake(): Promise<void> {
    if (this.#isStopped) return this.#running ?? Promise.resolve()
    if (this.#running === undefined) return this.#run()
    this.#next ??= this.#running.then(() => {
      this.#next = undefined
      // The action may already be running again.
      return this.#isStopped ? undefined : (this.#running ?? this.#run())
    })
    return this.#next
  }

  /** Stops. Resolves when the last execution has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#running
  }

  #run(): Promise<void> {
    clearTimeout(this.#timer)
    this.#running = this.#act().finally(() => {
      this.#running = undefined
      this.#wait()
    })
    return this.#running
  }

  #wait(): void {
    if (this.#isStopped) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.wake(), timerMs(this.#everyMs))
    if (typeof this.#timer === 'object') this.#timer.unref?.()
  }
}
