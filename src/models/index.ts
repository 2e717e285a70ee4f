/**
 * Facts of the models of the services that this package has a factory for: context windows, longest answers, prices. Nothing of it is loaded where it is not imported.
 *
 * @module
 */
import type { CatalogueEntry, ModelCatalogue } from '../types/model/catalogue.ts'
import { catalogueData, catalogueDate } from './catalogue-data.ts'

export type { CatalogueEntry, ModelCatalogue } from '../types/model/catalogue.ts'

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
    const text = Object.hasOwn(catalogueData, provider) ? (catalogueData[provider] ?? '') : ''
    const rows = text.split('\n').filter((line) => line !== '')
    entries = new Map(rows.map((line) => entryOf(provider, line)).map((entry) => [entry.id, entry]))
    read.set(provider, entries)
  }
  return entries
}

function entryOf(provider: string, line: string): CatalogueEntry {
  const [
    id = '',
    contextWindow,
    maxOutputTokens,
    inputPerMillion,
    outputPerMillion,
    cacheReadPerMillion,
    cacheWritePerMillion,
    marks = '',
  ] = line.split(' ')
  return {
    provider,
    id,
    contextWindow: Number(contextWindow),
    maxOutputTokens: Number(maxOutputTokens),
    cost: {
      inputPerMillion: Number(inputPerMillion),
      outputPerMillion: Number(outputPerMillion),
      cacheReadPerMillion: Number(cacheReadPerMillion),
      cacheWritePerMillion: Number(cacheWritePerMillion),
    },
    reasoning: marks.includes('r'),
    takesPictures: marks.includes('i'),
  }
}

/**
 * What is known of models, as of `asOf`. Pass it to a factory: `anthropic(id, { apiKey, catalogue })`.
 *
 * **Contract**
 * - Facts are those of the source on that day: services change prices and limits. Options of a factory win, and a cost that a service reports wins over a computed one.
 * - Ids of Bedrock are found with and without their region.
 *
 * Source: docs/concepts/model-catalogue.md
 */
export const catalogue: DatedCatalogue = {
  asOf: catalogueDate,
  find: (provider, id) => entriesOf(provider).get(id) ?? entriesOf(provider).get(id.replace(/^(?:us|eu|au|jp|apac|global)\./, '')),
  list: (provider) => (provider === undefined ? Object.keys(catalogueData) : [provider]).flatMap((name) => [...entriesOf(name).values()]),
}
