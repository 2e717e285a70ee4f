import { Agent } from 'phi-core'
import { catalogue } from 'phi-core/models'
import { anthropic } from 'phi-core/providers/anthropic'

/** Creates an agent that stops at a cost of half a dollar. */
export function thrifty(apiKey: string, id = 'claude-opus-4-8'): Agent {
  return new Agent({ model: anthropic(id, { apiKey, catalogue }), limits: { maxCost: 0.5 } })
}

/** Finds the model of a provider that accepts images and has the lowest output price. */
export function cheapestWithEyes(provider: string): string | undefined {
  const seeing = catalogue.list(provider).filter(({ takesPictures, cost }) => takesPictures && cost.outputPerMillion > 0)
  return seeing.sort((a, b) => a.cost.outputPerMillion - b.cost.outputPerMillion)[0]?.id
}
