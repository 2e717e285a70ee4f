import type { LogDriver } from '../../../src/session.ts'
import { seededRandom } from '../../../testing/fault-fetch.ts'

/** Lets what several drivers do happen one operation at a time, in an order that the seed decides: an interleaving that can be had again. */
export class Turns {
  readonly #random: () => number
  #waiting: (() => Promise<void>)[] = []
  #isRunning = false

  constructor(seed: number) {
    this.#random = seededRandom(seed)
  }

  /** A number below `count`. */
  pick(count: number): number {
    return Math.floor(this.#random() * count)
  }

  /** The same driver, whose operations wait for their turn, before and after: what is acknowledged may be heard of late. */
  driver(driver: LogDriver): LogDriver {
    const { claim, append, read, release } = driver
    return {
      ...driver,
      claim: (sessionId, agentId) => this.take(() => claim.call(driver, sessionId, agentId)),
      append: (right, lines) => this.take(() => append.call(driver, right, lines)),
      read: (sessionId, after) => this.take(() => read.call(driver, sessionId, after)),
      release: (right) => this.take(() => release.call(driver, right)),
    }
  }

  /** Does `work` when its turn comes. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    await this.#turn()
    try {
      return await work()
    } finally {
      await this.#turn()
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(async () => resolve())
      void this.#run()
    })
  }

  async #run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    while (this.#waiting.length > 0) {
      // Everybody gets to where they wait for their turn.
      for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setImmediate(resolve))
      const [next] = this.#waiting.splice(this.pick(this.#waiting.length), 1)
      await next?.()
    }
    this.#isRunning = false
  }
}
