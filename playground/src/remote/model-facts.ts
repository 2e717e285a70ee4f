import { compactsAt, unknownCost } from '../../../src/context.ts'
import type { CostConfig } from '../../../src/index.ts'
import type { TokenRates } from '../../../src/models.ts'
import type { ModelFacts } from '../state/backend/chat-port.ts'

/** The server's facts about its model. Missing facts are unknown. */
export function factsFrom(about: unknown): ModelFacts {
  const { model, isScripted, contextTokens, cost } = Object(about)
  const tokens = typeof contextTokens === 'number' && contextTokens > 0 ? contextTokens : 200_000
  return {
    name: typeof model === 'string' ? model : 'Server',
    isScripted: isScripted === true,
    contextTokens: tokens,
    // The default for agents.
    compactsAt: compactsAt({ maxContextTokens: tokens }, { contextWindow: tokens, maxTokens: 0 }) ?? tokens,
    cost: isCost(cost) ? cost : unknownCost,
  }
}

const rateNames = ['inputPerMillion', 'outputPerMillion', 'cacheReadPerMillion', 'cacheWritePerMillion'] as const

function isCost(value: unknown): value is CostConfig {
  const { tiers = [] } = Object(value)
  return isRates(value) && Array.isArray(tiers) && tiers.every((tier) => isRates(tier) && isAmount(Object(tier).inputTokensAbove))
}

function isRates(value: unknown): value is TokenRates {
  const rates = Object(value)
  const { cacheWrite1hPerMillion: hour } = rates
  return rateNames.every((name) => isAmount(rates[name])) && (hour === undefined || isAmount(hour))
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
