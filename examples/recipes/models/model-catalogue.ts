import { Agent } from 'phi-core'
import { catalogue } from 'phi-core/models'
import { anthropic } from 'phi-core/providers/anthropic'

/** An agent that stops when it has cost half a dollar: the catalogue knows the prices. */
export function thrifty(apiKey: string, id = 'claude-opus-4-8'): Agent {
  return new Agent({ model: anthropic(id, { apiKey, catalogue }), limits: { maxCost: 0.5 } })
}

/** The cheapest model of a service that sees, by the price of what it writes. */
export function cheapestWithEyes(provider: string): string | undefined {
  const seeing = catalogue.list(provider).filter(({ takesPictures, cost }) => takesPictures && cost.outputPerMillion > 0)
  return seeing.sort((a, b) => a.cost.outputPerMillion - b.cost.outputPerMillion)[0]?.id
}
