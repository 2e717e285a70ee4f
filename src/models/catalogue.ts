/**
 * Facts about the models that this package has factories for: context windows, output limits, prices. Only loaded if imported.
 *
 * @module
 */
import { ownOf } from '../contract/json.ts'
import type { CostConfig, CostTier, TokenRates } from '../contract/model/usage.ts'
import type { CatalogueEntry, ModelCatalogue } from '../types/model/model.ts'
import { catalogueData, catalogueDate } from './catalogue-data.ts'

export type { CatalogueEntry, ModelCatalogue } from '../types/model/model.ts'

/** The catalogue of this package. */
export interface DatedCatalogue extends ModelCatalogue {
  /** Date of its source, such as `2026-11-10`. */
  readonly asOf: string
  /** Returns all entries, or those of one provider, ordered by id. */
  list(provider?: string): CatalogueEntry[]
}

const read = new Map<string, ReadonlyMap<string, CatalogueEntry>>()

function entriesOf(provider: string): ReadonlyMap<string, CatalogueEntry> {
  let entries = read.get(provider)
  if (entries === undefined) {
    const text = ownOf(catalogueData, provider) ?? ''
    const rows = text.split('\n').filter((line) => line !== '')
    entries = new Map(rows.flatMap((line) => entriesIn(provider, line)).map((entry) => [entry.id, entry]))
    read.set(provider, entries)
  }
  return entries
}

/** Returns a line's entries: equal models share one. */
function entriesIn(provider: string, line: string): CatalogueEntry[] {
  const [ids = '', contextWindow, maxOutputTokens, ...facts] = line.split(' ')
  const [marks = ''] = facts.splice(ratesPerRow, 1)
  const figures = facts.map(Number)
  const cost: CostConfig = ratesAt(figures, 0)
  const tiers: CostTier[] = []
  for (let at = ratesPerRow; at < figures.length; at += 1 + ratesPerRow) {
    tiers.push({ inputTokensAbove: figures[at] ?? 0, ...ratesAt(figures, at + 1) })
  }
  const shared = {
    contextWindow: Number(contextWindow),
    maxOutputTokens: Number(maxOutputTokens),
    cost: tiers.length === 0 ? cost : { ...cost, tiers },
    reasoning: marks.includes('r'),
    takesPictures: marks.includes('i'),
  }
  return ids.split(',').map((id) => ({ provider, id, ...shared }))
}

const ratesPerRow = 4

function ratesAt(figures: readonly number[], at: number): TokenRates {
  const [inputPerMillion = 0, outputPerMillion = 0, cacheReadPerMillion = 0, cacheWritePerMillion = 0] = figures.slice(at)
  return { inputPerMillion, outputPerMillion, cacheReadPerMillion, cacheWritePerMillion }
}

/**
 * Catalogue of known models as of `asOf`. Pass it to a factory: `anthropic(id, { apiKey, catalogue })`.
 *
 * **Contract**
 * - Facts may be outdated: providers change prices and limits. Options for a factory override them, and a cost reported by the provider
 *   overrides a computed one.
 * - Bedrock ids are found with and without their region, because some regions have their own prices.
 *
 * Source: docs/concepts/models.md
 */
export const catalogue: DatedCatalogue = {
  asOf: catalogueDate,
  find: (provider, id) =>
    entriesOf(provider).get(id) ?? entriesOf(provider).get(id.replace(/^(?:us|us-gov|eu|au|jp|in|ca|apac|global)\./, '')),
  list: (provider) => (provider === undefined ? Object.keys(catalogueData) : [provider]).flatMap((name) => [...entriesOf(name).values()]),
}
