import type { Budget } from '../types/budget.ts'
import { defaultLimits, type ExecutionLimits, type ReachedLimit } from '../types/settings.ts'
import { type CostConfig, estimatedCost, type Usage } from '../types/usage.ts'

/**
 * What one loop may use and has used, as a node of the budget tree.
 *
 * **Contract**
 * - `exceeded` compares with `>=` and names the first limit reached: turns, tokens, duration, cost; its own before those above.
 * - Tokens are input plus output; cached prompt tokens are not counted. Attempts that failed and were repeated are charged too.
 *
 * Source: spec/06 "Execution limits", texts in reference/phi-core-0.10.md §5.
 */
export class ExecutionBudget implements Budget {
  readonly #limits: ExecutionLimits | undefined
  readonly #parent: Budget | undefined
  readonly #startedAt = performance.now()
  #turns = 0
  #tokens = 0
  #cost = 0

  /** `limits: false` sets none here; those of `parent` still hold. */
  constructor(limits: Partial<ExecutionLimits> | false | undefined, parent?: Budget) {
    this.#limits = limits === false ? undefined : { ...defaultLimits, ...limits }
    this.#parent = parent
  }

  /** Counts one finished turn. */
  recordTurn(): void {
    this.#turns += 1
  }

  charge(usage: Usage, cost: CostConfig): void {
    this.#tokens += usage.input + usage.output
    this.#cost += estimatedCost(usage, cost)
    this.#parent?.charge(usage, cost)
  }

  exceeded(): string | undefined {
    return this.reached()?.reason
  }

  reached(): ReachedLimit | undefined {
    return this.#ownReached() ?? reachedAbove(this.#parent)
  }

  #ownReached(): ReachedLimit | undefined {
    if (this.#limits === undefined) return undefined
    const { maxTurns, maxTotalTokens, maxDurationMs, maxCost } = this.#limits
    const reached = (name: ReachedLimit['name'], used: number, max: number, words: string) => ({ name, reason: words, max, used })
    if (this.#turns >= maxTurns) return reached('maxTurns', this.#turns, maxTurns, `Max turns reached (${this.#turns}/${maxTurns})`)
    if (this.#tokens >= maxTotalTokens) {
      return reached('maxTotalTokens', this.#tokens, maxTotalTokens, `Max tokens reached (${this.#tokens}/${maxTotalTokens})`)
    }
    const elapsedMs = performance.now() - this.#startedAt
    if (elapsedMs >= maxDurationMs) {
      const words = `Max duration reached (${seconds(elapsedMs)}s/${seconds(maxDurationMs)}s)`
      return reached('maxDurationMs', elapsedMs, maxDurationMs, words)
    }
    if (maxCost !== undefined && this.#cost >= maxCost && this.#cost > 0) {
      return reached('maxCost', this.#cost, maxCost, `Max cost reached ($${this.#cost.toFixed(4)}/$${maxCost.toFixed(4)})`)
    }
    return undefined
  }
}

/** What a budget above says: one of somebody else's may only have words. */
function reachedAbove(budget: Budget | undefined): ReachedLimit | undefined {
  if (budget?.reached !== undefined) return budget.reached()
  const reason = budget?.exceeded()
  return reason === undefined ? undefined : { name: 'budget', reason }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
