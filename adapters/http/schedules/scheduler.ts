import { logWarning } from '../../../src/base/log-warning.ts'
import { errorText } from '../../../src/contract/errors.ts'
import type { Logger } from '../../../src/index.ts'
import { ProblemError } from '../access/problem.ts'
import type { ScheduleEntry, ScheduleStore } from './schedule-store.ts'

/** Milliseconds until a retry after a store failure. */
const againMs = 60_000

interface SchedulerParts {
  store: ScheduleStore
  logger: Logger | false | undefined
  /** Sends the prompt to its session. `key` identifies one occurrence of one entry. */
  say: (entry: ScheduleEntry, key: string) => Promise<void>
  /** Schedules the next call of `wake`, or cancels it. */
  arm: (at: number | undefined) => Promise<void> | void
}

/**
 * Sends due prompts.
 *
 * **Contract**
 * - Sends each prompt at most once, because it first removes the prompt from the store. Postpones the prompt if the session cannot start it
 *   now (429, 503). Logs other failures as `scheduleFailed`.
 * - `wake` never rejects, and its calls are serialized.
 */
export class Scheduler {
  readonly #parts: SchedulerParts
  #turn: Promise<void> = Promise.resolve()
  #isOver = false

  constructor(parts: SchedulerParts) {
    this.#parts = parts
  }

  /** Sends due prompts and sets the timer for the next one. */
  wake(): Promise<void> {
    this.#turn = this.#turn
      .then(() => this.#wake())
      .catch(async (error: unknown) => {
        this.#warn('', error)
        if (!this.#isOver) await this.#parts.arm(Date.now() + againMs)
      })
    return this.#turn
  }

  /** Stops. Resolves once prompts in progress have started. */
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
      // Add a separate entry, because the repeating entry has already moved to its next time.
      const { everyMs: _, ...once } = entry
      await store.add({ ...once, id: crypto.randomUUID(), at: Date.now() + waitMs })
    }
  }

  #warn(sessionId: string, error: unknown): void {
    logWarning(this.#parts.logger, 'scheduleFailed', { sessionId, message: errorText(error) })
  }
}

/** Returns the next future time in the interval of the first one. */
function nextOf({ at, everyMs }: ScheduleEntry): number | undefined {
  if (everyMs === undefined) return undefined
  const missed = Math.max(0, Math.floor((Date.now() - at) / everyMs))
  return at + (missed + 1) * everyMs
}
