import type { ReachedLimit } from './settings.ts'
import type { CostConfig, Usage } from './usage.ts'

/**
 * What a run may use, and what it has used. Budgets form a tree: what a sub-agent, a branch, a judge or a compaction uses is charged to the
 * run that started it too, and they stop when that run would have to.
 *
 * **Contract**
 * - Tokens (input plus output), time and cost are shared along the tree; turns belong to one loop.
 * - Time is monotonic and starts with the budget.
 */
export interface Budget {
  /** Adds a model call, here and to every budget above. `cost` holds the rates of the model that was asked. */
  charge(usage: Usage, cost: CostConfig): void
  /** Why no further model call may begin, in the words of the specification, or `undefined`. */
  exceeded(): string | undefined
  /** The same, as data. */
  reached?(): ReachedLimit | undefined
}
