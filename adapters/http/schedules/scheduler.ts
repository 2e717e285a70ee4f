import { logWarning } from '../../../src/base/log-warning.ts'
import { errorText } from '../../../src/contract/errors.ts'
import type { Logger } from '../../../src/index.ts'
import { ProblemError } from '../access/problem.ts'
import type { ScheduleEntry, ScheduleStore } from './schedule-store.ts'

/** When a store is asked again that did not answer: ms from then. */
const againMs = 60_000

interface SchedulerParts {
  store: ScheduleStore
  logger: Logger | false | undefined
  /** Says the prompt in its session. `key` is the same for one time of one entry. */
  say: (entry: ScheduleEntry, key: string) => Promise<void>
  /** Has `wake` called at this time, or not at all. */
  arm: (at: number | undefined) => Promise<void> | void
}

/**
 * Says what is due.
 *
 * **Contract**
 * - Each time is said at most once: it is taken out of the store before it is said. Where the session cannot begin anything just now (429, 503), it is put
 *   off; what else goes wrong the `logger` learns as `scheduleFailed`.
 * - `wake` never rejects, and calls of it follow one another.
 */
export class Scheduler {
  readonly #parts: SchedulerParts
  #turn: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(parts: SchedulerParts) {
    this.#parts = parts
  }

  /** Says what is due now, and arms the next time. */
  wake(): Promise<void> {
    this.#turn = this.#turn
      .then(() => this.#wake())
      .catch(async (error: unknown) => {
        this.#warn('', error)
        if (!this.#isOver) await this.#parts.arm(Date.now() + againMs)
      })
    return this.#turn
  }

  /** Says nothing more. Resolves once what is being said has begun. */
  async end(): Promise<void> {
    this.#isOver = true
    await this.#parts.arm(undefined)
    await this.#turn
  }

  async #wake(): Promise<void> {
    const { store, arm } = this.#parts
    for (let due = await store.due(Date.now()); due.length > 0 && !this.#isOver; due = await store.due(Date.now())) {
      for (const entry of due) if (!this.#isOver) await this.#take(entry)
    }
    if (!this.#isOver) await arm(await store.nextAt())
  }

  async #take(entry: ScheduleEntry): Promise<void> {
    const { store, say } = this.#parts
    if (!(await store.move(entry, nextOf(entry)))) return
    try {
      await say(entry, `${entry.id}-${entry.at}`)
    } catch (error) {
      const waitMs = error instanceof ProblemError ? error.problem.retryAfterMs : undefined
      if (waitMs === undefined) return this.#warn(entry.address.sessionId, error)
      // As an entry of its own: the one that goes on has moved.
      const { everyMs: _, ...once } = entry
      await store.add({ ...once, id: crypto.randomUUID(), at: Date.now() + waitMs })
    }
  }

  #warn(sessionId: string, error: unknown): void {
    logWarning(this.#parts.logger, 'scheduleFailed', { sessionId, message: errorText(error) })
  }
}

/** The next time that is not over, in step with the first one. */
function nextOf({ at, everyMs }: ScheduleEntry): number | undefined {
  if (everyMs === undefined) return undefined
  const missed = Math.max(0, Math.floor((Date.now() - at) / everyMs))
  return at + (missed + 1) * everyMs
}
