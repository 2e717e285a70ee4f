import { joinBase64 } from '../../../base/base64.ts'
import { pictureAt } from '../../../base/received-media.ts'
import type { JsonObject } from '../../../contract/json.ts'
import type { Citation, ProviderState, TextRange } from '../../../contract/message/content.ts'
import { newId } from '../../../contract/message/identity.ts'
import type { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import type { UnknownFields } from '../../kit/decode/unknown-fields.ts'
import { citationOf, isCitation, logprobsIn } from '../../kit/optional/citations/annotations.ts'
import { CodePoints } from '../../kit/optional/citations/code-points.ts'
import { ExecutedTools } from './executed-tools.ts'
import type { ChatChoice, ChatChunk, ChatDelta } from './wire.ts'

/** Maximum base64 characters of audio. Audio beyond the limit is dropped. */
const maxAudio = 32 * 1024 * 1024

/** Maximum characters of parsed files. */
const maxParsed = 16 * 1024 * 1024

/**
 * Collects the remaining content of a Chat Completions stream: images, audio, citations, and provider-executed tools. Emits most of it at
 * the end, because providers repeat it or send it before the text.
 *
 * Source: docs/providers/openai.md
 */
export class ChatExtras {
  readonly #builder: AssistantBuilder
  readonly #stateOf: (payload: JsonObject) => ProviderState
  readonly #pictures = new Set<string>()
  readonly #annotations: object[] = []
  /** Parsed files, by content, and their total length. */
  readonly #parsed = new Map<string, JsonObject>()
  #parsedLength = 0
  readonly #executed: ExecutedTools
  #audio: { id?: string; expiresAt?: number; pieces: string[]; length: number; transcript: string } | undefined
  #links: readonly unknown[] = []
  #results: readonly unknown[] = []

  constructor(builder: AssistantBuilder, stateOf: (payload: JsonObject) => ProviderState, unknown: UnknownFields) {
    this.#builder = builder
    this.#stateOf = stateOf
    this.#executed = new ExecutedTools(builder, stateOf({}), unknown)
  }

  /** Reads fields of a chunk outside its choices. */
  chunk({ citations, search_results: results, service_tier: tier }: ChatChunk): void {
    if (Array.isArray(citations)) this.#links = citations
    if (Array.isArray(results)) this.#results = results
    if (typeof tier === 'string') this.#builder.message.serviceTier = tier
  }

  /** Reads fields of a choice outside its delta. */
  choice({ logprobs }: ChatChoice): void {
    const likely = [...logprobsIn(logprobs?.content), ...logprobsIn(logprobs?.refusal)]
    if (likely.length === 0) return
    const { message } = this.#builder
    message.logprobs = [...(message.logprobs ?? []), ...likely]
  }

  /** Returns whether a delta has content other than text, reasoning and calls. */
  delta(delta: ChatDelta): boolean {
    const { images, audio, annotations, executed_tools: executed } = delta
    for (const image of listOf(images)) this.#picture(Object(Object(image).image_url).url ?? image)
    if (audio) this.#sound(Object(audio))
    for (const each of listOf(annotations)) {
      if (Object(each).type === 'file')
        this.#parsedFile(each as JsonObject) // Parsed JSON.
      else this.#annotations.push(Object(each))
    }
    for (const tool of listOf(executed)) this.#executed.add(Object(tool))
    return Boolean(images ?? audio ?? annotations ?? executed)
  }

  /** Reads a content part other than text. Mistral sends references and images. */
  part(kind: string, part: object): void {
    const wire = part as JsonObject // Parsed JSON.
    const { image_url: image, url, title } = wire
    if (kind === 'image_url') this.#picture(Object(image).url ?? image)
    else if (kind === 'tool_reference' && typeof url === 'string') {
      this.#annotations.push({ type: 'url_citation', url, ...(title !== undefined && { title }) })
    } else this.#builder.unknown(`part ${newId()}`, kind, this.#stateOf({ part: wire }), 'not sent back: this protocol does not support it')
  }

  /** Emits the collected content. `textKey` is the last text. */
  tell(textKey: string): void {
    this.#tellSound()
    const text = this.#builder.written(textKey)
    const cited: Citation[] = [...this.#annotated(text), ...this.#linked(text), ...this.#executed.sources()]
    // Add an empty text for the citations to a response without text.
    for (const citation of cited) this.#builder.citation(textKey, citation)
    const { message } = this.#builder
    const annotations = this.#annotations.filter((each) => Object(each).type === 'url_citation') as JsonObject[] // Parsed JSON.
    if (this.#parsed.size + annotations.length > 0)
      message.providerState = this.#stateOf({
        ...(this.#parsed.size > 0 && { parsedFiles: [...this.#parsed.values()] }),
        ...(annotations.length > 0 && { annotations }),
      })
    const { searches = 0 } = message.usage
    if (searches > 0 && this.#executed.size === 0) this.#search(cited)
  }

  /** Stores the provider's parsed form of a file. Later requests contain it, because the provider bills each parse. */
  #parsedFile(annotation: JsonObject): void {
    const json = JSON.stringify(annotation)
    if (this.#parsed.has(json)) return
    this.#parsedLength += json.length
    if (this.#parsedLength <= maxParsed) this.#parsed.set(json, annotation)
    else this.#builder.warn('The provider sent more parsed files than can be stored. The rest will be parsed again next time.')
  }

  /** Adds an image, unless it was already added, because some providers repeat the list. */
  #picture(url: unknown): void {
    if (typeof url === 'string') {
      if (this.#pictures.has(url)) return
      this.#pictures.add(url)
    }
    const source = pictureAt(url)
    if (source !== undefined) this.#builder.whole(`picture ${this.#pictures.size}`, { type: 'image', ...source })
    else this.#builder.warn('The provider sent an image without valid bytes or an https URL. The image was dropped.')
  }

  #sound({ id, data, transcript, expires_at: expiresAt }: Record<string, unknown>): void {
    this.#audio ??= { pieces: [], length: 0, transcript: '' }
    const audio = this.#audio
    if (typeof id === 'string') audio.id = id
    if (typeof expiresAt === 'number') audio.expiresAt = expiresAt
    if (typeof transcript === 'string') audio.transcript += transcript
    if (typeof data !== 'string' || data === '') return
    audio.length += data.length
    if (audio.length <= maxAudio) audio.pieces.push(data)
    else this.#builder.warn('The audio of the response exceeds the size limit. The rest was dropped.')
  }

  #tellSound(): void {
    const audio = this.#audio
    if (audio === undefined || (audio.pieces.length === 0 && audio.transcript === '')) return
    const { id, expiresAt, transcript } = audio
    const payload = { ...(id !== undefined && { audioId: id }), ...(expiresAt !== undefined && { expiresAt }), transcript }
    const contextField = transcript === '' ? {} : { context: transcript }
    const data = joinBase64(audio.pieces)
    if (data === undefined) {
      this.#builder.warn('The provider sent audio that is not base64. The audio was dropped; the text was kept.')
      if (transcript !== '') this.#builder.text('audio', transcript)
      return
    }
    this.#builder.whole('audio', { type: 'file', mimeType: 'audio/pcm', data, ...contextField, providerState: this.#stateOf(payload) })
  }

  #annotated(text: string): Citation[] {
    const points = new CodePoints(text)
    return this.#annotations.flatMap((wire) => {
      const { type, ...fields }: JsonObject = { ...(wire as JsonObject) } // Parsed JSON.
      const annotation: JsonObject = { ...(type !== undefined && { type }), ...fields, ...Object(fields[String(type)]) }
      if (isCitation(annotation)) return [citationOf(annotation, points)]
      this.#builder.warn(`The provider sent an annotation of the unsupported type "${String(type).slice(0, 60)}". It was dropped.`)
      return []
    })
  }

  /** Returns the citations that the text refers to by number: `[1]`. */
  #linked(text: string): Citation[] {
    const sources = this.#links.length > 0 ? this.#links : this.#results.map((result) => Object(result).url)
    const used = new Set<number>()
    const results = new Map(this.#results.map(Object).map((result: Record<string, unknown>) => [result.url, result]))
    const cite = (index: number, range?: TextRange): Citation[] => {
      const url = sources[index]
      const { title, snippet }: Record<string, unknown> = results.get(url) ?? {}
      if (typeof url !== 'string') return []
      used.add(index)
      const details = {
        ...(typeof title === 'string' && { title }),
        ...(typeof snippet === 'string' && snippet !== '' && { citedText: snippet }),
      }
      return [{ url, ...details, ...(range !== undefined && { range }) }]
    }
    const marked = [...text.matchAll(/\[(\d{1,3})\]/g)].flatMap((mark) =>
      cite(Number(mark[1]) - 1, { start: mark.index, end: mark.index + mark[0].length }),
    )
    return [...marked, ...sources.flatMap((_, index) => (used.has(index) ? [] : cite(index)))]
  }

  /** Emits a web search that the provider counts but does not report as a call. */
  #search(cited: readonly Citation[]): void {
    const output = [...new Set(cited.flatMap(({ url }) => url ?? []))]
    const id = `${this.#builder.message.responseId ?? newId()}-search`
    this.#builder.serviceTool({ type: 'serviceTool', id, name: 'web_search', status: 'done', output, providerState: this.#stateOf({}) })
  }
}

/** Returns the items of a field that may hold a single value. */
function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value.filter((each) => each !== null)
  return value ? [value] : []
}
