import { type Agent, estimatedCost } from 'phi-core'
import { anthropic } from 'phi-core/providers/anthropic'

/** A model that costs more where the prompt has more than 200,000 tokens. */
export function readerOfBooks(apiKey: string) {
  const short = { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 }
  const long = { inputPerMillion: 6, outputPerMillion: 22.5, cacheReadPerMillion: 0.6, cacheWritePerMillion: 7.5 }
  return anthropic('claude-sonnet-4-5', { apiKey, cost: { ...short, tiers: [{ inputTokensAbove: 200_000, ...long }] } })
}

/** What the answers of an agent have cost so far, in USD. */
export function costSoFar({ messages, settings }: Agent): number {
  const answers = messages.filter((message) => message.role === 'assistant')
  return answers.reduce((sum, { usage }) => sum + estimatedCost(usage, settings.model.config.cost), 0)
}
