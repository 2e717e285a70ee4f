import type { ExecutionLimits } from '../types/settings.ts'
import { type CostConfig, estimatedCost, type Usage } from '../types/usage.ts'

/**
 * Counts what a run has used and says when it must stop.
 *
 * **Contract**
 * - `exceeded` compares with `>=` and returns the reason of the first limit reached: turns, tokens, duration, cost.
 * - Time is monotonic and starts with construction. Tokens are input plus output; cached prompt tokens are not counted.
 * - `usage` is all the run has used so far, attempts that failed and were repeated included.
 *
 * Source: spec/06 "Execution limits", texts in reference/phi-core-0.10.md §5.
 */
export class ExecutionTracker {
  readonly #limits: ExecutionLimits
  readonly #cost: CostConfig
  readonly #startedAt = performance.now()
  #turns = 0

  constructor(limits: ExecutionLimits, cost: CostConfig) {
    this.#limits = limits
    this.#cost = cost
  }

  /** Counts one finished turn. */
  recordTurn(): void {
    this.#turns += 1
  }

  /** Why the next turn may not begin, or `undefined`. */
  exceeded(usage: Usage): string | undefined {
    const { maxTurns, maxTotalTokens, maxDurationMs, maxCost } = this.#limits
    if (this.#turns >= maxTurns) return `Max turns reached (${this.#turns}/${maxTurns})`
    const tokens = usage.input + usage.output
    if (tokens >= maxTotalTokens) return `Max tokens reached (${tokens}/${maxTotalTokens})`
    const elapsedMs = performance.now() - this.#startedAt
    if (elapsedMs >= maxDurationMs) return `Max duration reached (${seconds(elapsedMs)}s/${seconds(maxDurationMs)}s)`
    const cost = estimatedCost(usage, this.#cost)
    if (maxCost !== undefined && cost >= maxCost && cost > 0) {
      return `Max cost reached ($${cost.toFixed(4)}/$${maxCost.toFixed(4)})`
    }
    return undefined
  }
}

/** Whether a cost can be computed at all: with every rate zero it is unknown, not free. */
export function hasRates(cost: CostConfig): boolean {
  return cost.inputPerMillion + cost.outputPerMillion + cost.cacheReadPerMillion + cost.cacheWritePerMillion > 0
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
