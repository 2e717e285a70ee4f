import { toBase64 } from '../../base/base64.ts'
import { parseArguments } from '../../base/json/call-arguments.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { Citation, ProviderState, TextRange } from '../../contract/message/content.ts'
import { newId } from '../../contract/message/ids.ts'
import { citationOf, isCitation, logprobsIn } from '../kit/decode/annotations.ts'
import type { AssistantBuilder } from '../kit/decode/assistant-builder.ts'
import { shownOutput } from '../kit/decode/service-output.ts'
import type { ChatChoice, ChatChunk, ChatDelta } from './wire.ts'

/** Most characters of base64 of one sound; more is left out. */
const maxAudio = 32 * 1024 * 1024

/** The fields of a delta that are read. */
const knownFields: ReadonlySet<string> = new Set([
  ...['role', 'content', 'refusal', 'reasoning_content', 'reasoning', 'reasoning_text', 'reasoning_details', 'tool_calls'],
  ...['function_call', 'images', 'audio', 'annotations', 'executed_tools', 'name', 'token_ids'],
])

/**
 * What a Chat Completions stream brings beside text, reasoning and calls: pictures, sound, what the text rests on, and what the service ran. Most of it
 * is told once the answer is whole: services repeat it, or send it before the text.
 *
 * Source: docs/providers/openai.md
 */
export class ChatExtras {
  readonly #builder: AssistantBuilder
  readonly #stateOf: (payload: JsonObject) => ProviderState
  readonly #pictures = new Set<string>()
  readonly #annotations: object[] = []
  readonly #executed = new Map<number, Record<string, unknown>>()
  readonly #unknown = new Set<string>()
  #audio: { id?: string; expiresAt?: number; pieces: string[]; length: number; transcript: string } | undefined
  #links: readonly unknown[] = []
  #results: readonly unknown[] = []

  constructor(builder: AssistantBuilder, stateOf: (payload: JsonObject) => ProviderState) {
    this.#builder = builder
    this.#stateOf = stateOf
  }

  /** What stands beside the choices. */
  chunk({ citations, search_results: results, service_tier: tier }: ChatChunk): void {
    if (Array.isArray(citations)) this.#links = citations
    if (Array.isArray(results)) this.#results = results
    if (typeof tier === 'string') this.#builder.message.serviceTier = tier
  }

  /** What stands beside the delta. */
  choice({ logprobs }: ChatChoice): void {
    const likely = logprobsIn(logprobs?.content)
    if (likely.length === 0) return
    const { message } = this.#builder
    message.logprobs = [...(message.logprobs ?? []), ...likely]
  }

  /** Whether a delta says anything beside text, reasoning and calls. */
  delta(delta: ChatDelta): boolean {
    const { images, audio, annotations, executed_tools: executed } = delta
    if (Array.isArray(images)) for (const image of images) this.#picture(Object(Object(image).image_url).url)
    if (audio) this.#sound(Object(audio))
    if (Array.isArray(annotations)) this.#annotations.push(...annotations.filter((each) => typeof each === 'object' && each !== null))
    if (Array.isArray(executed)) for (const tool of executed) this.#tool(Object(tool))
    const isKnown = Boolean(images ?? audio ?? annotations ?? executed)
    if (!isKnown) this.#other(delta)
    return isKnown
  }

  /** A part of the content that is not known. */
  part(kind: string, part: object): void {
    this.#builder.unknown(`part ${newId()}`, kind, this.#stateOf({ part: part as JsonObject })) // off the wire, so it is JSON
  }

  /** The answer is whole; `textKey` is its last text. */
  tell(textKey: string): void {
    this.#tellSound()
    const text = this.#builder.written(textKey)
    const cited: Citation[] = [...this.#annotated(text), ...this.#linked(text), ...this.#found()]
    if (text !== '') for (const citation of cited) this.#builder.citation(textKey, citation)
    const { searches = 0 } = this.#builder.message.usage
    if (searches > 0 && this.#executed.size === 0) this.#search(cited)
  }

  /** Some services send the whole list again. */
  #picture(url: unknown): void {
    if (typeof url !== 'string' || this.#pictures.has(url)) return
    this.#pictures.add(url)
    const [head = '', data = ''] = url.split(',', 2)
    const mimeType = /^data:([^;,]+)/.exec(head)?.[1]
    const source = mimeType === undefined ? { url } : { data }
    this.#builder.whole(`picture ${this.#pictures.size}`, { type: 'image', mimeType: mimeType ?? 'image/png', ...source })
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
    else this.#builder.warn('The sound of the answer is longer than this version keeps: the rest is left out.')
  }

  #tellSound(): void {
    const audio = this.#audio
    if (audio === undefined || (audio.pieces.length === 0 && audio.transcript === '')) return
    const { id, expiresAt, transcript } = audio
    const payload = { ...(id !== undefined && { audioId: id }), ...(expiresAt !== undefined && { expiresAt }), transcript }
    const said = transcript === '' ? {} : { context: transcript }
    const data = joined(audio.pieces)
    this.#builder.whole('audio', { type: 'file', mimeType: 'audio/pcm', data, ...said, providerState: this.#stateOf(payload) })
  }

  /** The same call comes once when it begins and once with what came of it. */
  #tool(wire: Record<string, unknown>): void {
    const index = typeof wire.index === 'number' ? wire.index : this.#executed.size
    const known = { ...this.#executed.get(index), ...wire }
    this.#executed.set(index, known)
    const { type, arguments: args, output } = known
    const read = typeof args === 'string' ? parseArguments(args) : undefined
    const shown = shownOutput(output)
    this.#builder.serviceTool({
      ...{ type: 'serviceTool', id: `executed-${index}`, name: typeof type === 'string' ? type : 'tool' },
      ...(read !== undefined && read.fault === undefined && { input: read.arguments }),
      status: output === undefined || output === null ? 'running' : 'done',
      ...(shown !== undefined && { output: shown }),
      providerState: this.#stateOf({}),
    })
  }

  #annotated(text: string): Citation[] {
    return this.#annotations.flatMap((wire) => {
      const { type, ...fields }: JsonObject = { ...(wire as JsonObject) } // off the wire, so it is JSON
      const annotation: JsonObject = { ...(type !== undefined && { type }), ...fields, ...Object(fields[String(type)]) }
      if (isCitation(annotation)) return [citationOf(annotation, text)]
      this.#builder.warn(`The service sent an annotation of the kind "${String(type).slice(0, 60)}", which is not kept.`)
      return []
    })
  }

  /** The text names its sources by number: `[1]`. */
  #linked(text: string): Citation[] {
    const sources = this.#links.length > 0 ? this.#links : this.#results.map((result) => Object(result).url)
    const used = new Set<number>()
    const cite = (index: number, range?: TextRange): Citation[] => {
      const url = sources[index]
      const title: unknown = this.#results.map((result) => Object(result)).find((result) => result.url === url)?.title
      if (typeof url !== 'string') return []
      used.add(index)
      return [{ url, ...(typeof title === 'string' && { title }), ...(range !== undefined && { range }) }]
    }
    const marked = [...text.matchAll(/\[(\d{1,3})\]/g)].flatMap((mark) =>
      cite(Number(mark[1]) - 1, { start: mark.index, end: mark.index + mark[0].length }),
    )
    return [...marked, ...sources.flatMap((_, index) => (used.has(index) ? [] : cite(index)))]
  }

  /** What the tools of the service found. */
  #found(): Citation[] {
    return [...this.#executed.values()].flatMap(({ search_results: found }) => {
      const results: unknown = Object(found).results
      if (!Array.isArray(results)) return []
      return results.flatMap((result): Citation[] => {
        const { url, title }: Record<string, unknown> = Object(result)
        return typeof url === 'string' ? [{ url, ...(typeof title === 'string' && { title }) }] : []
      })
    })
  }

  /** A search that the service counts and does not show. */
  #search(cited: readonly Citation[]): void {
    const output = [...new Set(cited.flatMap(({ url }) => url ?? []))]
    const id = `${this.#builder.message.responseId ?? newId()}-search`
    this.#builder.serviceTool({ type: 'serviceTool', id, name: 'web_search', status: 'done', output, providerState: this.#stateOf({}) })
  }

  /** Content in a field that is not known: said once. */
  #other(delta: ChatDelta): void {
    for (const [name, value] of Object.entries(delta)) {
      if (knownFields.has(name) || this.#unknown.has(name) || value === null || value === '' || typeof value === 'boolean') continue
      this.#unknown.add(name)
      this.#builder.warn(`The service sent "${name.slice(0, 60)}" in its answer, which this version does not know. It is left out.`)
    }
  }
}

/** Pieces of base64, each of which may have its own padding, as one. */
function joined(pieces: readonly string[]): string {
  if (pieces.slice(0, -1).every((piece) => piece.length % 4 === 0 && !piece.endsWith('='))) return pieces.join('')
  const bytes = pieces.map((piece) => Uint8Array.from(atob(piece), (char) => char.charCodeAt(0)))
  const whole = new Uint8Array(bytes.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of bytes) {
    whole.set(piece, at)
    at += piece.length
  }
  return toBase64(whole)
}
