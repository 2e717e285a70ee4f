import type { CostConfig, Usage } from '../../contract/model/usage.ts'
import type { ReachedLimit } from '../../contract/run/settings.ts'

/**
 * Limits of a run, and its use so far. Budgets form a tree: a sub-agent, branch, judge or compaction is also charged to its parent run and
 * stops at the parent's limits. `createBudget` creates one.
 *
 * **Contract**
 * - Tokens (input plus output), time and cost are shared along the tree; turns belong to one loop.
 * - Time is monotonic and starts with the budget. It stands still while a run waits for a user.
 */
export interface Budget {
  /**
   * Charges a model call to this budget and its parents. `cost` holds the rates of the model. Throws `ConfigError` `invalidOption` for
   * figures that are negative or not finite.
   */
  charge(usage: Usage, cost: CostConfig): void
  /** Records use that cannot be priced, here and in parents. With a cost limit, no further model call starts. */
  uncountable?(reason: string): void
  /** Returns why no further model call may start, in the words of the specification, or `undefined`. */
  exceeded(): string | undefined
  /** Returns the reached limit as data. */
  reached?(): ReachedLimit | undefined
  /** Whether this budget or a parent limits cost. Such a run rejects models without prices. Default: false. */
  readonly limitsCost?: boolean
  /**
   * Pauses the clock here and in parents. Returns a function that resumes it, once. The clock runs again when all pauses are resumed.
   * Default: no pause.
   */
  pause?(): () => void
}

/** Amounts charged to a budget. */
export interface BudgetUse {
  /** Tokens of all model calls, including cached tokens. */
  usage: Usage
  /** At the rates of the models called. */
  costUsd: number
  /** Milliseconds since the budget was created, without pauses. */
  elapsedMs: number
}

/** A budget whose use can be read. */
export interface ReadableBudget extends Budget {
  /** Returns a copy of the use so far. */
  used(): BudgetUse
}
