import type { CostConfig, Usage } from '../../contract/model/usage.ts'
import type { ReachedLimit } from '../../contract/run/settings.ts'

/**
 * A run's limits and usage. Budgets form a tree: a sub-agent, branch, judge or compaction is also charged to its parent run and stops at
 * the parent's limits. Create a budget with `createBudget`.
 *
 * **Contract**
 * - Tokens (input plus output), time and cost are shared along the tree. Each loop counts its own turns.
 * - The clock is monotonic and starts when the budget is created. The clock is paused while a run waits for a user.
 */
export interface Budget {
  /**
   * Charges a model call to this budget and its parents. `cost` contains the model's prices. Throws `ConfigError` `invalidOption` for
   * negative or non-finite numbers.
   */
  charge(usage: Usage, cost: CostConfig): void
  /** Records usage without a known price, in this budget and its parents. With a cost limit, no further model call starts. */
  uncountable?(reason: string): void
  /** Returns the reason why no further model call may start, in the specification's wording, or `undefined`. */
  exceeded(): string | undefined
  /** Returns the limit that was reached, if any. */
  reached?(): ReachedLimit | undefined
  /** Whether this budget or a parent limits cost. Runs with a cost limit reject models without prices. Default: false. */
  readonly limitsCost?: boolean
  /**
   * Pauses the clock of this budget and its parents. Returns a function that ends this pause. The clock continues when all pauses have
   * ended. Default: the clock is never paused.
   */
  pause?(): () => void
}

/** Amounts charged to a budget. */
export interface BudgetUse {
  /** Tokens used by all model calls, including cached tokens. */
  usage: Usage
  /** Cost in USD, at each called model's prices. */
  costUsd: number
  /** Milliseconds since the budget was created, excluding pauses. */
  elapsedMs: number
}

/** A budget that also reports usage. */
export interface ReadableBudget extends Budget {
  /** Returns a copy of the current usage. */
  used(): BudgetUse
}
