import type { Budget } from '../types/budget.ts'
import { defaultLimits, type ExecutionLimits } from '../types/settings.ts'
import { type CostConfig, estimatedCost, type Usage } from '../types/usage.ts'

/**
 * What one loop may use and has used, as a node of the budget tree.
 *
 * **Contract**
 * - `exceeded` compares with `>=` and names the first limit reached: turns, tokens, duration, cost; its own before those above.
 * - Tokens are input plus output; cached prompt tokens are not counted. Attempts that failed and were repeated are charged too.
 *
 * Source: docs/concepts/budgets.md
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
    return this.#ownExceeded() ?? this.#parent?.exceeded()
  }

  #ownExceeded(): string | undefined {
    if (this.#limits === undefined) return undefined
    const { maxTurns, maxTotalTokens, maxDurationMs, maxCost } = this.#limits
    if (this.#turns >= maxTurns) return `Max turns reached (${this.#turns}/${maxTurns})`
    if (this.#tokens >= maxTotalTokens) return `Max tokens reached (${this.#tokens}/${maxTotalTokens})`
    const elapsedMs = performance.now() - this.#startedAt
    if (elapsedMs >= maxDurationMs) return `Max duration reached (${seconds(elapsedMs)}s/${seconds(maxDurationMs)}s)`
    if (maxCost !== undefined && this.#cost >= maxCost && this.#cost > 0) {
      return `Max cost reached ($${this.#cost.toFixed(4)}/$${maxCost.toFixed(4)})`
    }
    return undefined
  }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
