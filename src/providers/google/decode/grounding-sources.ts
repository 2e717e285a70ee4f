import type { Citation } from '../../../contract/message/content.ts'
import type { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import type { GroundingMetadata } from '../wire.ts'

/** A text segment and its sources. */
interface Support {
  segment: unknown
  sources: readonly Citation[]
}

/**
 * Merges the sources of all chunks.
 *
 * **Contract**
 * - A list that starts with all previous sources repeats them. Any other list continues the previous one.
 * - Indices refer to the chunk's list. Indices beyond its length refer to the whole list.
 * - Duplicates are stored once.
 */
export class GroundingSources {
  readonly queries: string[] = []
  readonly supports: Support[] = []
  readonly #builder: AssistantBuilder
  readonly #chunks: string[] = []
  readonly #cited: (Citation | undefined)[] = []
  readonly #seen = new Set<string>()

  constructor(builder: AssistantBuilder) {
    this.#builder = builder
  }

  /** All sources in order. */
  get all(): Citation[] {
    return this.#cited.flatMap((source) => source ?? [])
  }

  add({ webSearchQueries: queries, groundingChunks: chunks, groundingSupports: supports }: GroundingMetadata): void {
    for (const query of Array.isArray(queries) ? queries : []) {
      if (typeof query === 'string' && this.#isNew(`query ${query}`)) this.queries.push(query)
    }
    const own = Array.isArray(chunks) ? chunks : []
    const base = this.#takeChunks(own)
    // Indices beyond the chunk's list refer to the whole list.
    const numberOf = (index: unknown) => (Number(index) < own.length ? base + Number(index) : Number(index))
    for (const support of Array.isArray(supports) ? supports : []) this.#support(support, numberOf)
  }

  /** Adds `chunks`, and returns the first one's index in the whole list. */
  #takeChunks(chunks: readonly unknown[]): number {
    const serialized = chunks.map((chunk) => JSON.stringify(chunk))
    const isRepeated = this.#chunks.every((known, at) => serialized[at] === known)
    const base = isRepeated ? 0 : this.#chunks.length
    for (const [at, chunk] of chunks.entries()) {
      if (base + at < this.#chunks.length) continue
      this.#chunks.push(serialized[at] ?? '')
      this.#cited.push(this.#sourceOf(Object(chunk), base + at))
    }
    return base
  }

  #support(support: unknown, numberOf: (index: unknown) => number): void {
    const { segment, groundingChunkIndices: indices }: Record<string, unknown> = Object(support)
    const numbers = Array.isArray(indices) ? indices.map(numberOf) : []
    const sources = numbers.flatMap((number) => this.#cited[number] ?? [])
    if (sources.length > 0 && this.#isNew(JSON.stringify([segment, numbers]))) this.supports.push({ segment, sources })
  }

  #isNew(key: string): boolean {
    if (this.#seen.has(key)) return false
    this.#seen.add(key)
    return true
  }

  #sourceOf(chunk: Record<string, unknown>, index: number): Citation | undefined {
    const { web, retrievedContext, maps, image } = chunk
    const { uri, sourceUri, title, text, pageNumber: page }: Record<string, unknown> = Object(web ?? retrievedContext ?? maps ?? image)
    const url = uri ?? sourceUri
    const source: Citation = {
      ...(typeof url === 'string' && url !== '' && { url }),
      ...(typeof title === 'string' && title !== '' && { title }),
      ...(typeof text === 'string' && text !== '' && { citedText: text }),
      ...(typeof page === 'number' && { document: { index, unit: 'page' as const, start: page, end: page + 1 } }),
    }
    if (Object.keys(source).length > 0) return source
    const [kind] = Object.keys(chunk)
    if (kind !== undefined && this.#isNew(`kind ${kind}`))
      this.#builder.warn(`The provider sent a source of the unknown type "${kind.slice(0, 60)}". The source was dropped.`)
    return undefined
  }
}
