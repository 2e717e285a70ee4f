import type { JsonObject } from '../../contract/json.ts'
import type { Citation, ProviderState, TextRange } from '../../contract/message/content.ts'
import { newId } from '../../contract/message/ids.ts'
import type { Usage } from '../../contract/model/usage.ts'
import type { AssistantBuilder } from '../kit/decode/assistant-builder.ts'
import type { GeminiCandidate, GroundingMetadata } from './wire.ts'

/** How the state of a page begins that the service was to read. */
const statusPrefix = 'URL_RETRIEVAL_STATUS_'

/**
 * What an answer rests on, told once it is whole: segments of text as ranges in UTF-16 units, and searches of a service that does not show them as calls.
 * Source: docs/providers/google.md
 */
export class Grounding {
  /** Keys of the blocks of text, in their order. */
  readonly texts: number[] = []
  readonly #builder: AssistantBuilder
  readonly #usage: Usage
  readonly #stateOf: (payload: JsonObject) => ProviderState
  #metadata: GroundingMetadata = {}
  #pages: NonNullable<NonNullable<GeminiCandidate['urlContextMetadata']>['urlMetadata']> = []
  #recited: object[] = []

  constructor(builder: AssistantBuilder, usage: Usage, stateOf: (payload: JsonObject) => ProviderState) {
    this.#builder = builder
    this.#usage = usage
    this.#stateOf = stateOf
  }

  /** Each chunk may bring some of it; of each field the latest counts. */
  add({ groundingMetadata, urlContextMetadata, citationMetadata, logprobsResult }: GeminiCandidate): void {
    if (groundingMetadata) {
      const said = Object.entries(groundingMetadata).filter(([, value]) => Array.isArray(value) && value.length > 0)
      this.#metadata = { ...this.#metadata, ...Object.fromEntries(said) }
    }
    if (Array.isArray(urlContextMetadata?.urlMetadata)) this.#pages = urlContextMetadata.urlMetadata
    if (Array.isArray(citationMetadata?.citations)) this.#recited.push(...citationMetadata.citations.filter((each) => each !== null))
    const tokens = logprobsResult?.chosenCandidates
    if (!Array.isArray(tokens)) return
    const { message } = this.#builder
    message.logprobs ??= []
    for (const each of tokens) {
      const { token, logProbability: logprob }: Record<string, unknown> = Object(each)
      if (typeof token === 'string' && typeof logprob === 'number') message.logprobs.push({ token, logprob })
    }
  }

  /** Tells all of it. `hasCalls`: the service showed its calls itself. */
  tell(hasCalls: boolean): void {
    const { webSearchQueries: queries = [], groundingChunks: chunks = [] } = this.#metadata
    if (queries !== null && queries.length > 0) this.#usage.searches = queries.length
    const sources = (chunks ?? []).map((chunk, index) => sourceOf(Object(chunk), index))
    this.#cite(sources)
    if (hasCalls) return
    if (queries !== null && queries.length > 0) this.#search(queries, sources)
    for (const [index, page] of this.#pages.entries()) this.#page(Object(page), index)
  }

  #cite(sources: readonly (Citation | undefined)[]): void {
    const text = this.texts.map((key) => this.#builder.written(key)).join('')
    const supports = this.#metadata.groundingSupports ?? []
    for (const support of supports) {
      const { segment, groundingChunkIndices: indices }: Record<string, unknown> = Object(support)
      const range = rangeOf(Object(segment), text)
      for (const index of Array.isArray(indices) ? indices : []) {
        const source = sources[Number(index)]
        if (source !== undefined) this.#add(source, range)
      }
    }
    if (supports.length === 0) for (const source of sources) if (source !== undefined) this.#add(source, undefined)
    for (const each of this.#recited) {
      const { uri, title, ...segment }: Record<string, unknown> = Object(each)
      if (typeof uri === 'string') this.#add({ url: uri, ...(typeof title === 'string' && { title }) }, rangeOf(segment, text))
    }
  }

  /** Adds to the block in which `range`, of the joined texts, begins. */
  #add(source: Citation, range: TextRange | undefined): void {
    let from = 0
    let key = this.texts.at(-1)
    if (key === undefined) return
    for (const each of this.texts) {
      const { length } = this.#builder.written(each)
      if (range === undefined || range.start < from + length) {
        key = range === undefined ? key : each
        break
      }
      from += length
    }
    this.#builder.citation(key, range === undefined ? source : { ...source, range: { start: range.start - from, end: range.end - from } })
  }

  #search(queries: readonly unknown[], sources: readonly (Citation | undefined)[]): void {
    const output = sources.flatMap((source) => (source?.url === undefined ? [] : [{ url: source.url, title: source.title ?? '' }]))
    const id = `${this.#builder.message.responseId ?? newId()}-grounding-0`
    const input = { queries: queries.filter((query) => typeof query === 'string') }
    this.#builder.serviceTool({
      type: 'serviceTool',
      id,
      name: 'google_search',
      input,
      status: 'done',
      output,
      providerState: this.#stateOf({}),
    })
  }

  #page({ retrievedUrl: url, urlRetrievalStatus: status }: Record<string, unknown>, index: number): void {
    if (typeof url !== 'string') return
    const word = String(status).replace(statusPrefix, '')
    const block = {
      type: 'serviceTool' as const,
      id: `${this.#builder.message.responseId ?? newId()}-page-${index}`,
      name: 'url_context',
      input: { url },
    }
    const providerState = this.#stateOf({})
    if (word !== 'SUCCESS') this.#builder.serviceTool({ ...block, status: 'failed', error: { code: word }, providerState })
    else {
      this.#builder.serviceTool({ ...block, status: 'done', providerState })
      this.#add({ url }, undefined)
    }
  }
}

function sourceOf({ web, retrievedContext, maps, image }: Record<string, unknown>, index: number): Citation | undefined {
  const { uri, sourceUri, title, text, pageNumber: page }: Record<string, unknown> = Object(web ?? retrievedContext ?? maps ?? image)
  const url = uri ?? sourceUri
  if (typeof url !== 'string') return undefined
  return {
    url,
    ...(typeof title === 'string' && { title }),
    ...(typeof text === 'string' && { citedText: text }),
    ...(typeof page === 'number' && { document: { index, unit: 'page' as const, start: page, end: page + 1 } }),
  }
}

/** A segment, which counts bytes of UTF-8, as a range of `text`. What the segment says of its text decides. */
function rangeOf({ startIndex = 0, endIndex, text: said }: Record<string, unknown>, text: string): TextRange | undefined {
  if (typeof endIndex !== 'number' || typeof startIndex !== 'number') return undefined
  const bytes = new TextEncoder().encode(text)
  const unitsTo = (at: number) => new TextDecoder().decode(bytes.subarray(0, at)).length
  const range = { start: unitsTo(startIndex), end: unitsTo(endIndex) }
  if (typeof said !== 'string' || said === '' || text.slice(range.start, range.end) === said) return range
  const at = text.indexOf(said)
  return at === -1 ? range : { start: at, end: at + said.length }
}
