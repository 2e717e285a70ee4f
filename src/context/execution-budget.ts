import { aBudget } from '../base/argument-checks.ts'
import { ConfigError, errorText } from '../contract/errors.ts'
import { definedFields } from '../contract/json.ts'
import {
  type CostConfig,
  combineUsage,
  emptyUsage,
  estimatedCost,
  hasRates,
  isPaidFor,
  ratesFor,
  type Usage,
} from '../contract/model/usage.ts'
import { defaultLimits, type ExecutionLimits, type ReachedLimit, type SharedLimits } from '../contract/run/settings.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aNumberFromZero, options } from '../contract/shape/shape.ts'
import type { Budget, BudgetUse, ReadableBudget } from '../types/run/budget.ts'

/**
 * Limits and usage of one loop, as a node of the budget tree.
 *
 * **Contract**
 * - `exceeded` compares with `>=` and returns the first limit reached, in the order turns, tokens, duration, cost, searches. It checks its
 *   own limits before its parents'.
 * - Tokens are input plus output, without cached prompt tokens. Failed and repeated attempts are charged too.
 *
 * Source: docs/concepts/limits.md
 */
export class ExecutionBudget implements ReadableBudget {
  readonly #limits: ExecutionLimits | undefined
  readonly #parent: Budget | undefined
  readonly #startedAt = performance.now()
  #turns = 0
  #tokens = 0
  #cost = 0
  #usage = emptyUsage()
  /** Whether all charges have a price. */
  #isPriced = true
  /** Why a charge could not be counted. */
  #uncountable: string | undefined
  /** Number of clock pauses, the start of the current pause, and the total of earlier ones in milliseconds. */
  #pauses = 0
  #pausedAt = 0
  #pausedMs = 0

  /** `limits: false` sets no limits here. The limits of `parent` still apply. */
  constructor(limits: Partial<ExecutionLimits> | false | undefined, parent?: Budget) {
    this.#limits = limits === false ? undefined : { ...defaultLimits, ...definedFields(limits) }
    this.#parent = parent
  }

  get limitsCost(): boolean {
    return (this.#limits !== undefined && this.#limits.maxCost !== undefined) || this.#parent?.limitsCost === true
  }

  /** Counts a finished turn. */
  recordTurn(): void {
    this.#turns += 1
  }

  charge(usage: Usage, cost: CostConfig): void {
    try {
      checkCharge(usage, cost)
    } catch (error) {
      this.uncountable(errorText(error))
      throw error
    }
    this.#usage = combineUsage(this.#usage, usage)
    this.#tokens += usage.input + usage.output + (usage.beside?.input ?? 0) + (usage.beside?.output ?? 0)
    this.#cost += estimatedCost(usage, cost)
    if (!isPaidFor(usage) && !hasRates({ cost })) this.#isPriced = false
    this.#parent?.charge(usage, cost)
  }

  /** Total cost of all charges in USD. `undefined` if a charge has no price. */
  get costUsd(): number | undefined {
    return this.#isPriced && this.#uncountable === undefined ? this.#cost : undefined
  }

  uncountable(reason: string): void {
    this.#uncountable ??= reason
    this.#parent?.uncountable?.(reason)
  }

  used(): BudgetUse {
    return { usage: { ...this.#usage }, costUsd: this.#cost, elapsedMs: this.#elapsedMs() }
  }

  pause(): () => void {
    if (this.#pauses === 0) this.#pausedAt = performance.now()
    this.#pauses += 1
    const goOnAbove = this.#parent?.pause?.()
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#pauses -= 1
      if (this.#pauses === 0) this.#pausedMs += performance.now() - this.#pausedAt
      goOnAbove?.()
    }
  }

  #elapsedMs(): number {
    const now = this.#pauses === 0 ? performance.now() : this.#pausedAt
    return now - this.#startedAt - this.#pausedMs
  }

  exceeded(): string | undefined {
    return this.reached()?.reason
  }

  reached(): ReachedLimit | undefined {
    // An uncountable charge may have used up the whole budget.
    if (this.#uncountable !== undefined && this.limitsCost)
      return { name: 'budget', reason: `Cannot compute the cost: ${this.#uncountable}` }
    return this.#ownReached() ?? reachedAbove(this.#parent)
  }

  #ownReached(): ReachedLimit | undefined {
    if (this.#limits === undefined) return undefined
    const { maxTurns, maxTotalTokens, maxDurationMs, maxCost, maxSearches } = this.#limits
    const reached = (name: ReachedLimit['name'], used: number, max: number, words: string) => ({ name, reason: words, max, used })
    if (this.#turns >= maxTurns) return reached('maxTurns', this.#turns, maxTurns, `Max turns reached (${this.#turns}/${maxTurns})`)
    if (this.#tokens >= maxTotalTokens) {
      return reached('maxTotalTokens', this.#tokens, maxTotalTokens, `Max tokens reached (${this.#tokens}/${maxTotalTokens})`)
    }
    const elapsedMs = this.#elapsedMs()
    if (elapsedMs >= maxDurationMs) {
      const words = `Max duration reached (${seconds(elapsedMs)}s/${seconds(maxDurationMs)}s)`
      return reached('maxDurationMs', elapsedMs, maxDurationMs, words)
    }
    if (maxCost !== undefined && this.#cost >= maxCost && this.#cost > 0) {
      return reached('maxCost', this.#cost, maxCost, `Max cost reached ($${this.#cost.toFixed(4)}/$${maxCost.toFixed(4)})`)
    }
    const { searches = 0 } = this.#usage
    if (maxSearches !== undefined && searches >= maxSearches && searches > 0) {
      return reached('maxSearches', searches, maxSearches, `Max searches reached (${searches}/${maxSearches})`)
    }
    return undefined
  }
}

/** Describes a parent budget's limit. A custom budget may provide only a text. */
function reachedAbove(budget: Budget | undefined): ReachedLimit | undefined {
  if (budget?.reached !== undefined) return budget.reached()
  const reason = budget?.exceeded()
  return reason === undefined ? undefined : { name: 'budget', reason }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}

/** Validates reported usage: `NaN` would disable every limit, because no comparison with it is true. */
function checkCharge(usage: Usage, cost: CostConfig): void {
  const given: Partial<Usage> = Object(usage)
  for (const name of counts) checkFigure(name, given[name])
  const { beside: separate, ...figures } = given
  for (const [name, figure] of Object.entries(figures)) if (figure !== undefined) checkFigure(name, figure)
  if (separate !== undefined) for (const [name, figure] of Object.entries(separate)) checkFigure(`beside.${name}`, figure)
  const rates = ratesFor(Object(usage), Object(cost))
  for (const name in rates) checkFigure(name, rates[name as keyof typeof rates])
}

/** Fields that every charge contains. */
const counts = ['input', 'output', 'cacheRead', 'cacheWrite'] as const

function checkFigure(name: string, value: unknown): void {
  if (isFigure(value)) return
  throw new ConfigError('invalidOption', `budget.charge: ${name} is ${String(value)}; it must be a finite number from 0.`)
}

function isFigure(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY
}

const budgetLimits = options<SharedLimits>({
  maxTotalTokens: aNumberFromZero,
  maxDurationMs: aNumberFromZero,
  maxCost: aNumberFromZero,
  maxSearches: aNumberFromZero,
})

/**
 * Creates a budget for one or several runs: pass it as `budget` to `prompt`, `agentLoop` or `parallelLoop`, and read their usage from it.
 *
 * **Contract**
 * - Default: no limits. `maxTurns` belongs to a loop, so it is not an option. Throws `ConfigError` `invalidOption` for an invalid limit.
 * - Charges also count for `parent`, and the budget is used up when `parent` is.
 *
 * @example
 * const budget = createBudget({ maxCost: 0.5 })
 * await agent.prompt('Sum it up.', { budget }).result
 * console.log(budget.used().costUsd)
 */
export function createBudget(limits: Partial<SharedLimits> = {}, parent?: Budget): ReadableBudget {
  checkOptions(limits, budgetLimits)
  if (parent !== undefined) checkOptions(parent, aBudget, 'parent')
  const { maxTotalTokens = Infinity, maxDurationMs = Infinity, ...others } = limits
  return new ExecutionBudget({ maxTurns: Infinity, maxTotalTokens, maxDurationMs, ...others }, parent)
}
