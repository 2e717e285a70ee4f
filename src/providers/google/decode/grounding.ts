import type { JsonObject, JsonValue } from '../../../contract/json.ts'
import type { Citation, ProviderState, TextRange } from '../../../contract/message/content.ts'
import { newId } from '../../../contract/message/identity.ts'
import type { Usage } from '../../../contract/model/usage.ts'
import type { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import type { GeminiCandidate, GroundingMetadata } from '../wire.ts'
import { GroundingSources } from './grounding-sources.ts'
import { type Segment, segmentRanges } from './segment-ranges.ts'

/** Prefix of a fetched page's status. */
const statusPrefix = 'URL_RETRIEVAL_STATUS_'

/** A text block and its position in the whole text. */
interface TextSpan {
  key: number
  from: number
  to: number
}

/** Data to emit at the end. */
interface Cited {
  segment: Segment | undefined
  sources: readonly Citation[]
}

/**
 * Emits the sources at the end of a response: text ranges in UTF-16 units, and searches that the API does not report as calls.
 * Source: docs/providers/google.md
 */
export class Grounding {
  /** Keys of the text blocks in order. */
  readonly #texts: number[] = []
  /** Start of each part in the text. `undefined` for other parts. */
  readonly #partStarts: (number | undefined)[] = []
  #length = 0
  readonly #builder: AssistantBuilder
  readonly #usage: Usage
  readonly #stateOf: (payload: JsonObject) => ProviderState
  readonly #sources: GroundingSources
  /** Search data that the API requires clients to display or store. */
  #otherFields: JsonObject = {}
  /** Fetched pages by URL. Chunks repeat or continue them. */
  readonly #pages = new Map<string, { retrievedUrl?: unknown; urlRetrievalStatus?: unknown }>()
  readonly #recited: object[] = []
  #hasWarned = false

  constructor(builder: AssistantBuilder, usage: Usage, stateOf: (payload: JsonObject) => ProviderState) {
    this.#builder = builder
    this.#usage = usage
    this.#stateOf = stateOf
    this.#sources = new GroundingSources(builder)
  }

  /** Adds a part with its text length. `undefined` if the part is not response text. */
  part(length?: number): void {
    this.#partStarts.push(length === undefined ? undefined : this.#length)
    this.#length += length ?? 0
  }

  /** Starts a text block. */
  text(key: number): void {
    this.#texts.push(key)
  }

  /** Adds a chunk's sources. */
  add({ groundingMetadata, urlContextMetadata, citationMetadata, logprobsResult }: GeminiCandidate): void {
    if (groundingMetadata) this.#keep(groundingMetadata)
    if (Array.isArray(urlContextMetadata?.urlMetadata)) {
      for (const page of urlContextMetadata.urlMetadata) this.#pages.set(String(Object(page).retrievedUrl), Object(page))
    }
    if (Array.isArray(citationMetadata?.citations)) this.#recited.push(...citationMetadata.citations.filter((each) => each !== null))
    if (logprobsResult) this.#logprobs(logprobsResult)
  }

  /** Emits all sources. `hasCalls` means that the API reported its searches as calls, which it does not do for code execution. */
  tell(hasCalls: boolean): void {
    const { queries } = this.#sources
    if (queries.length > 0) this.#usage.searches = queries.length
    this.#cite()
    if (Object.keys(this.#otherFields).length > 0) this.#builder.message.providerState = this.#stateOf({ grounding: this.#otherFields })
    if (hasCalls) return
    if (queries.length > 0) this.#search(queries)
    for (const [index, page] of [...this.#pages.values()].entries()) this.#page(page, index)
  }

  #keep(metadata: GroundingMetadata): void {
    this.#sources.add(metadata)
    const { webSearchQueries: _queries, groundingChunks: chunks, groundingSupports: _supports, ...otherFields } = metadata
    Object.assign(this.#otherFields, otherFields as JsonObject) // Parsed JSON.
    const pictures = Array.isArray(chunks) ? chunks.flatMap((chunk) => Object(chunk).image ?? []) : []
    // Use the pages as sources, because image URLs cannot be citations.
    if (pictures.length > 0) this.#otherFields.images = pictures as JsonValue[] // Parsed JSON.
  }

  #logprobs({ chosenCandidates: tokens, topCandidates: tops }: NonNullable<GeminiCandidate['logprobsResult']>): void {
    if (!Array.isArray(tokens)) return
    const { message } = this.#builder
    message.logprobs ??= []
    for (const [at, each] of tokens.entries()) {
      const likely = likelyToken(each)
      if (likely === undefined) continue
      const others: unknown = Object(Array.isArray(tops) ? tops[at] : undefined).candidates
      const top = Array.isArray(others) ? others.flatMap((other) => likelyToken(other) ?? []) : []
      message.logprobs.push(top.length === 0 ? likely : { ...likely, top })
    }
  }

  #cite(): void {
    const spans = this.#spans()
    const text = this.#texts.map((key) => this.#builder.written(key)).join('')
    const { supports, all } = this.#sources
    const cited: Cited[] = supports.map(({ segment, sources }) => ({ segment: segmentOf(segment), sources }))
    if (supports.length === 0 && all.length > 0) cited.push({ segment: undefined, sources: all })
    for (const each of this.#recited) {
      const { uri, title, ...segment }: Record<string, unknown> = Object(each)
      const source = { ...(typeof uri === 'string' && { url: uri }), ...(typeof title === 'string' && { title }) }
      if (Object.keys(source).length > 0) cited.push({ segment: segmentOf(segment), sources: [source] })
    }
    const segments = cited.flatMap(({ segment }) => segment ?? [])
    const ranges = segmentRanges(segments, text, this.#partStarts).values()
    for (const { segment, sources } of cited) {
      const range = segment === undefined ? undefined : ranges.next().value
      if (segment !== undefined && range === undefined) this.#warnOfPlace()
      for (const source of sources) this.#add(source, range, spans)
    }
  }

  #warnOfPlace(): void {
    if (!this.#hasWarned)
      this.#builder.warn('The provider sent a citation position outside its text. The position was dropped; the source was kept.')
    this.#hasWarned = true
  }

  #spans(): TextSpan[] {
    let from = 0
    return this.#texts.map((key) => {
      const span = { key, from, to: from + this.#builder.written(key).length }
      from = span.to
      return span
    })
  }

  /** Adds a source to the block in which `range` begins. Creates an empty block for the source if the response has no text. */
  #add(source: Citation, range: TextRange | undefined, spans: readonly TextSpan[]): void {
    const span = range === undefined ? spans.at(-1) : (spanAt(spans, range.start) ?? spans.at(-1))
    if (span === undefined || range === undefined) this.#builder.citation(span?.key ?? 'sources', source)
    else this.#builder.citation(span.key, { ...source, range: { start: range.start - span.from, end: range.end - span.from } })
  }

  /** Returns the next unused id of a kind, because a continued response may contain earlier searches. */
  #freeId(kind: string): string {
    const stem = `${this.#builder.message.responseId ?? newId()}-${kind}`
    let at = 0
    while (this.#builder.serviceToolOf(`${stem}-${at}`) !== undefined) at += 1
    return `${stem}-${at}`
  }

  #search(queries: readonly string[]): void {
    const output = this.#sources.all.flatMap(({ url, title }) =>
      url === undefined && title === undefined ? [] : [{ ...(url !== undefined && { url }), title: title ?? '' }],
    )
    const call = { type: 'serviceTool', id: this.#freeId('grounding'), name: 'google_search' } as const
    this.#builder.serviceTool({ ...call, input: { queries: [...queries] }, status: 'done', output, providerState: this.#stateOf({}) })
  }

  #page({ retrievedUrl: url, urlRetrievalStatus: status }: Record<string, unknown>, index: number): void {
    if (typeof url !== 'string') return
    const word = String(status).replace(statusPrefix, '')
    const id = `${this.#builder.message.responseId ?? newId()}-page-${index}`
    const block = { type: 'serviceTool', id, name: 'url_context', input: { url } } as const
    const providerState = this.#stateOf({})
    if (word !== 'SUCCESS') this.#builder.serviceTool({ ...block, status: 'failed', error: { code: word }, providerState })
    else {
      this.#builder.serviceTool({ ...block, status: 'done', providerState })
      this.#add({ url }, undefined, this.#spans())
    }
  }
}

/** Returns the block that contains `unit`. */
function spanAt(spans: readonly TextSpan[], unit: number): TextSpan | undefined {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.to ?? 0) <= unit) low = middle + 1
    else high = middle
  }
  return spans[low]
}

function segmentOf(value: unknown): Segment | undefined {
  const { startIndex = 0, endIndex, text, partIndex = 0 }: Record<string, unknown> = Object(value)
  if (!isOffset(startIndex) || !isOffset(endIndex)) return undefined
  return { start: startIndex, end: endIndex, quote: typeof text === 'string' ? text : '', part: isOffset(partIndex) ? partIndex : 0 }
}

function isOffset(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function likelyToken(value: unknown): { token: string; logprob: number } | undefined {
  const { token, logProbability: logprob }: Record<string, unknown> = Object(value)
  return typeof token === 'string' && typeof logprob === 'number' ? { token, logprob } : undefined
}
