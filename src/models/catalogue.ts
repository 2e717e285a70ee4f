/**
 * Facts of the models of the services that this package has a factory for: context windows, longest answers, prices. Nothing of it is loaded where it is not imported.
 *
 * @module
 */
import { ownOf } from '../contract/json.ts'
import type { CostConfig, CostTier, TokenRates } from '../contract/model/usage.ts'
import type { CatalogueEntry, ModelCatalogue } from '../types/model/model.ts'
import { catalogueData, catalogueDate } from './catalogue-data.ts'

export type { CatalogueEntry, ModelCatalogue } from '../types/model/model.ts'

/** The catalogue that comes with this package. */
export interface DatedCatalogue extends ModelCatalogue {
  /** The day of its source, such as `2026-11-10`. */
  readonly asOf: string
  /** All entries, or those of one service, by id. */
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

/** Those of a line: models that are alike share it. */
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
 * What is known of models, as of `asOf`. Pass it to a factory: `anthropic(id, { apiKey, catalogue })`.
 *
 * **Contract**
 * - Facts are those of the source on that day: services change prices and limits. Options of a factory win, and a cost that a service reports wins over a computed one.
 * - Ids of Bedrock are found with and without their region: some regions have prices of their own.
 *
 * Source: docs/concepts/models.md
 */
export const catalogue: DatedCatalogue = {
  asOf: catalogueDate,
  find: (provider, id) =>
    entriesOf(provider).get(id) ?? entriesOf(provider).get(id.replace(/^(?:us|us-gov|eu|au|jp|in|ca|apac|global)\./, '')),
  list: (provider) => (provider === undefined ? Object.keys(catalogueData) : [provider]).flatMap((name) => [...entriesOf(name).values()]),
}
