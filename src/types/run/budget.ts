import type { CostConfig, Usage } from '../../contract/model/usage.ts'
import type { ReachedLimit } from '../../contract/run/settings.ts'

/**
 * What a run may use, and what it has used. Budgets form a tree: what a sub-agent, a branch, a judge or a compaction uses is charged to the
 * run that started it too, and they stop when that run would have to. `createBudget` makes one.
 *
 * **Contract**
 * - Tokens (input plus output), time and cost are shared along the tree; turns belong to one loop.
 * - Time is monotonic and starts with the budget. While a person is asked it stands still.
 */
export interface Budget {
  /**
   * Adds a model call, here and to every budget above. `cost` holds the rates of the model that was asked. Throws `ConfigError` `invalidOption`
   * for figures that are no finite numbers from 0.
   */
  charge(usage: Usage, cost: CostConfig): void
  /** Told of something that was used and cannot be counted, here and above: where money is limited, no further call begins. */
  uncountable?(reason: string): void
  /** Why no further model call may begin, in the words of the specification, or `undefined`. */
  exceeded(): string | undefined
  /** The same, as data. */
  reached?(): ReachedLimit | undefined
  /** Whether money is limited, here or above: a run whose model has no prices is refused then. Default: it is not. */
  readonly limitsCost?: boolean
  /** Stops the clock, here and above; returns how to let it go on, once. It goes on when all that stopped it have let it. Default: time goes on. */
  pause?(): () => void
}

/** What has been charged to a budget. */
export interface BudgetUse {
  /** Tokens of all model calls, cached ones included. */
  usage: Usage
  /** At the rates of the models that were asked. */
  costUsd: number
  /** Since the budget was made, less the time people were asked. */
  elapsedMs: number
}

/** A budget that can be read. */
export interface ReadableBudget extends Budget {
  /** What has been used so far. A copy. */
  used(): BudgetUse
}
