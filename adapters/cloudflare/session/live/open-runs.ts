import { ConfigError } from '../../../../src/index.ts'
import { type Problem, tooManyRuns } from '../../../http/index.ts'
import type { SessionIndex } from '../object/index-object.ts'

/** How many runs a tenant may have at once, and for how long one counts that nothing more is heard of. */
interface OpenRunsOptions {
  limit: number | undefined
  leaseMs: number
}

/**
 * The run of one session among those of its tenant, as the index counts them.
 *
 * **Contract**
 * - Without a limit nobody is asked and nothing is counted.
 * - What is said arrives in the order of the calls. A run whose object is gone for `leaseMs` counts no more.
 */
export class OpenRuns {
  readonly #index: SessionIndex | undefined
  readonly #sessionId: string
  readonly #options: OpenRunsOptions
  #said: Promise<unknown> = Promise.resolve()

  constructor(index: SessionIndex | undefined, sessionId: string, options: OpenRunsOptions) {
    this.#index = index
    this.#sessionId = sessionId
    this.#options = options
  }

  /** Makes one more run count from now on; a problem where none may begin. Rejects with `SessionError` `io` where the index cannot be asked. */
  async open(): Promise<Problem | undefined> {
    const { limit, leaseMs } = this.#options
    if (limit === undefined) return undefined
    const index = this.#checked(limit)
    const mayBegin = await this.#next(() => index.openRun(this.#sessionId, { leaseMs, limit }))
    return mayBegin ? undefined : tooManyRuns
  }

  /** Says that the run is still on, however many others there are. */
  keep(): void {
    this.#tell((index) => index.openRun(this.#sessionId, { leaseMs: this.#options.leaseMs }))
  }

  close(): void {
    this.#tell((index) => index.closeRun(this.#sessionId))
  }

  /** Nobody waits, and nothing is lost when it does not arrive: what counts runs out. */
  #tell(call: (index: SessionIndex) => Promise<unknown>): void {
    const index = this.#index
    if (this.#options.limit !== undefined && index !== undefined) this.#next(() => call(index)).catch(() => undefined)
  }

  #next<Value>(call: () => Promise<Value>): Promise<Value> {
    const next = this.#said.then(call)
    this.#said = next.catch(() => undefined)
    return next
  }

  #checked(limit: number): SessionIndex {
    if (!Number.isSafeInteger(limit) || limit < 0) {
      throw new ConfigError('invalidOption', `maxOpenRuns is ${limit}. It must be a whole number, or undefined for as many as come.`)
    }
    if (this.#index === undefined) {
      throw new ConfigError('invalidOption', 'maxOpenRuns needs the object that counts: return its binding from index().')
    }
    return this.#index
  }
}
