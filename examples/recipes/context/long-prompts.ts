import { type Agent, estimatedCost } from 'phi-core'
import { anthropic } from 'phi-core/providers/anthropic'

/** A model with higher prices for prompts of more than 200,000 tokens. */
export function readerOfBooks(apiKey: string) {
  const short = { inputPerMillion: 3, outputPerMillion: 15, cacheReadPerMillion: 0.3, cacheWritePerMillion: 3.75 }
  const long = { inputPerMillion: 6, outputPerMillion: 22.5, cacheReadPerMillion: 0.6, cacheWritePerMillion: 7.5 }
  return anthropic('claude-sonnet-4-5', { apiKey, cost: { ...short, tiers: [{ inputTokensAbove: 200_000, ...long }] } })
}

/** Returns the cost of all responses of an agent so far, in USD. */
export function costSoFar({ messages, settings }: Agent): number {
  const answers = messages.filter((message) => message.role === 'assistant')
  return answers.reduce((sum, { usage }) => sum + estimatedCost(usage, settings.model.config.cost), 0)
}
