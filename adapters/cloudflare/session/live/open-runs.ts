import { ConfigError } from '../../../../src/index.ts'
import { type Problem, tooManyRuns } from '../../../http/index.ts'
import type { SessionIndex } from '../object/index-object.ts'

/** Maximum active runs per tenant, and the lease duration. */
interface OpenRunsOptions {
  limit: number | undefined
  leaseMs: number
}

/**
 * One session's active run, counted in its tenant's index.
 *
 * **Contract**
 * - Without a limit, the index is not called.
 * - Calls arrive in order. A run whose object has not renewed the lease for `leaseMs` no longer counts.
 */
export class OpenRuns {
  readonly #index: SessionIndex | undefined
  readonly #sessionId: string
  readonly #options: OpenRunsOptions
  #lastReport: Promise<unknown> = Promise.resolve()

  constructor(index: SessionIndex | undefined, sessionId: string, options: OpenRunsOptions) {
    this.#index = index
    this.#sessionId = sessionId
    this.#options = options
  }

  /**
   * Counts a new run. Returns a problem if the limit is reached. Rejects with `SessionError` `io` if the index is unreachable.
   */
  async open(): Promise<Problem | undefined> {
    const { limit, leaseMs } = this.#options
    if (limit === undefined) return undefined
    const index = this.#checked(limit)
    const mayBegin = await this.#next(() => index.openRun(this.#sessionId, { leaseMs, limit }))
    return mayBegin ? undefined : tooManyRuns
  }

  /** Renews the run's lease, regardless of the limit. */
  keep(): void {
    this.#tell((index) => index.openRun(this.#sessionId, { leaseMs: this.#options.leaseMs }))
  }

  close(): void {
    this.#tell((index) => index.closeRun(this.#sessionId))
  }

  /** Sends a call without waiting. If the call is lost, the lease expires. */
  #tell(call: (index: SessionIndex) => Promise<unknown>): void {
    const index = this.#index
    if (this.#options.limit !== undefined && index !== undefined) this.#next(() => call(index)).catch(() => undefined)
  }

  #next<Value>(call: () => Promise<Value>): Promise<Value> {
    const next = this.#lastReport.then(call)
    this.#lastReport = next.catch(() => undefined)
    return next
  }

  #checked(limit: number): SessionIndex {
    if (!Number.isSafeInteger(limit) || limit < 0) {
      throw new ConfigError('invalidOption', `maxOpenRuns is ${limit}. It must be a whole number, or undefined for no limit.`)
    }
    if (this.#index === undefined) {
      throw new ConfigError('invalidOption', 'maxOpenRuns needs the object that counts: return its binding from index().')
    }
    return this.#index
  }
}
