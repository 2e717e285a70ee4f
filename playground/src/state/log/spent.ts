import { hasRates } from '../../../../src/context.ts'
import { type CostConfig, estimatedCost, type Usage } from '../../../../src/index.ts'
import type { TokenRates } from '../../../../src/models.ts'
import type { RunState } from '../../../../src/store.ts'

type Spent = Pick<RunState, 'messages' | 'usage'>

/**
 * Returns a conversation's cost in dollars, or `undefined` if unknown. Each response is priced at the rates for its own prompt, or as
 * reported, because pricing the sum of all tokens would apply the rates of one long prompt.
 */
export function spentOn(state: Spent, cost: CostConfig): number | undefined {
  const answers = answersOf(state)
  const isReported = answers.length > 0 && answers.every(({ reportedCost }) => reportedCost !== undefined)
  return isReported || hasRates({ cost }) ? priced(answers, cost) : undefined
}

/** Returns all tokens that a conversation used, including its current run. */
export function tokensOf(state: Spent): number {
  return answersOf(state).reduce((sum, { totalTokens }) => sum + totalTokens, 0)
}

/** Computes the cost of one token kind from the rates, because providers do not report it separately. */
export function spentAt(state: Spent, cost: CostConfig, rate: keyof TokenRates): number | undefined {
  if (!hasRates({ cost })) return undefined
  const { tiers = [], ...base } = cost
  const only: CostConfig = { ...alone(base, rate), tiers: tiers.map((tier) => ({ ...tier, ...alone(tier, rate) })) }
  const answers = answersOf(state).map(({ reportedCost: _, ...usage }) => usage)
  return priced(answers, only)
}

function priced(answers: readonly Usage[], cost: CostConfig): number {
  return answers.reduce((sum, usage) => sum + estimatedCost(usage, cost), 0)
}

/** Returns each response's usage, followed by the remaining usage, for interrupted or reverted responses without a message. */
function answersOf({ messages, usage }: Spent): Usage[] {
  const answers = messages.flatMap(({ message }) => (message?.role === 'assistant' ? [message.usage] : []))
  const unshown = { ...usage }
  delete unshown.reportedCost
  for (const answer of answers) for (const key of counted) unshown[key] -= answer[key]
  return unshown.totalTokens > 0 && counted.every((key) => unshown[key] >= 0) ? [...answers, unshown] : answers
}

const counted = ['input', 'output', 'reasoning', 'cacheRead', 'cacheWrite', 'totalTokens'] as const

/** Sets all rates but `rate` to 0. The one-hour cache belongs to cache writes. */
function alone(rates: TokenRates, rate: keyof TokenRates): TokenRates {
  const none = { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 }
  const { cacheWrite1hPerMillion: hour } = rates
  const isWritten = rate === 'cacheWritePerMillion'
  return { ...none, [rate]: rates[rate], ...(isWritten && hour !== undefined && { cacheWrite1hPerMillion: hour }) }
}
