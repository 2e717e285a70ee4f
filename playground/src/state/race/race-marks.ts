import { hasRates } from '../../../../src/context.ts'
import { type AgentEvent, type CostConfig, estimatedCost } from '../../../../src/index.ts'

/** A branch's timing and prices, collected from its events. Times are epoch milliseconds. */
export interface RaceMarks {
  name: string
  thinking: string
  startedAt: number
  firstTokenAt?: number
  endedAt?: number
  outputTokens: number
  /** USD. Absent without prices. */
  cost?: number
  /** Per million tokens. */
  prices?: CostConfig
}

/** Returns the marks updated with `event`. */
export function marked(marks: RaceMarks | undefined, event: AgentEvent): RaceMarks | undefined {
  if (event.type === 'agentStart') {
    const { model, name, thinkingLevel } = event.configSnapshot
    const prices = pricesIn(event.metadata, model)
    const shown = { name: name || model, thinking: thinkingLevel, startedAt: event.at, outputTokens: 0 }
    return prices === undefined ? shown : { ...shown, prices }
  }
  if (marks === undefined) return undefined
  if (event.type === 'messageUpdate' && marks.firstTokenAt === undefined) return { ...marks, firstTokenAt: event.at }
  if (event.type !== 'agentEnd') return marks
  const { usage, costUsd } = event
  const { prices } = marks
  // For branches that were stored without a cost.
  const cost = costUsd ?? (prices !== undefined && hasRates({ cost: prices }) ? estimatedCost(usage, prices) : undefined)
  return { ...marks, endedAt: event.at, outputTokens: usage.output, ...(cost !== undefined && { cost }) }
}

/** Computes the cost of branches by model from their events, so that it survives a reload. */
export function withPrices(models: readonly { id: string; cost?: CostConfig }[]): { prices: Record<string, Record<string, number>> } {
  return { prices: Object.fromEntries(models.flatMap(({ id, cost }) => (cost === undefined ? [] : [[id, fourRates(cost)]]))) }
}

/** The rates that the user sets. */
function fourRates({ inputPerMillion, outputPerMillion, cacheReadPerMillion, cacheWritePerMillion }: CostConfig) {
  return { inputPerMillion, outputPerMillion, cacheReadPerMillion, cacheWritePerMillion }
}

function pricesIn(metadata: unknown, model: string): CostConfig | undefined {
  const prices = fourRates(Object(Object(Object(metadata).prices)[model]))
  return Object.values(prices).every((price) => typeof price === 'number') ? prices : undefined
}
