import { joinBase64 } from '../../../base/base64.ts'
import { pictureType } from '../../../base/received-media.ts'
import type { JsonObject } from '../../../contract/json.ts'
import type { FileContent, ImageContent, ProviderState, ServiceToolContent } from '../../../contract/message/content.ts'
import { newId } from '../../../contract/message/identity.ts'
import { isBase64 } from '../../../contract/message/media.ts'
import type { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import { shownOutput, warnOfRepeat } from '../../kit/optional/server-tools/service-output.ts'
import { payloadOf, type ServicePayload, withResult } from '../../kit/optional/server-tools/service-payload.ts'
import { isBareSound } from '../encode-message.ts'
import type { GeminiPart } from '../wire.ts'
import { metadataNames } from './part-contents.ts'

/** Decodes other parts: media, provider-executed tools, unknown parts. Source: docs/providers/google.md */
export class ServiceParts {
  /** Whether the API reported its searches and fetches as calls. Otherwise, they are derived from sources. */
  hasCalls = false
  readonly #builder: AssistantBuilder
  readonly #stateOf: (payload: JsonObject) => ProviderState
  /** Calls without a result, in order. */
  #open: { id: string; kind: string }[] = []
  #count = 0
  /** A draft image, which the final image replaces. */
  #draft: string | undefined
  /** Audio in progress. */
  #sound: { key: string; file: FileContent; pieces: string[] } | undefined

  constructor(builder: AssistantBuilder, stateOf: (payload: JsonObject) => ProviderState) {
    this.#builder = builder
    this.#stateOf = stateOf
  }

  /** Returns whether the part has content. */
  add(part: GeminiPart): boolean {
    const wire = part as JsonObject // Parsed JSON.
    if (!part.inlineData) this.settle()
    if (part.inlineData) this.#media(wire, Object(part.inlineData), part.thought === true)
    else if (part.executableCode) this.#call(wire, 'code_execution', Object(part.executableCode))
    else if (part.toolCall) this.#call(wire, nameOf(part.toolCall), Object(part.toolCall))
    else if (part.codeExecutionResult) this.#result(wire, 'code_execution', Object(part.codeExecutionResult))
    else if (part.toolResponse) this.#result(wire, nameOf(part.toolResponse), Object(part.toolResponse))
    else return this.#unknown(wire)
    return true
  }

  /** Ends audio in progress. */
  settle(): void {
    const sound = this.#sound
    this.#sound = undefined
    if (sound === undefined || sound.pieces.length === 1) return
    const data = joinBase64(sound.pieces)
    if (data !== undefined) this.#builder.whole(sound.key, { ...sound.file, data })
  }

  #media(part: JsonObject, { mimeType, data }: Record<string, unknown>, isDraft: boolean): void {
    if (typeof mimeType !== 'string' || typeof data !== 'string') {
      this.#unknown(part)
      return
    }
    if (!isBase64(data) || data === '') {
      this.#builder.warn(`The provider sent "${mimeType.slice(0, 60)}" media with invalid bytes. The media was dropped.`)
      return
    }
    const { thoughtSignature } = part
    const providerState = this.#stateOf(thoughtSignature === undefined ? {} : { thoughtSignature })
    if (mimeType.startsWith('image/')) this.#picture({ type: 'image', mimeType: pictureType(mimeType, data), data, providerState }, isDraft)
    else this.#file({ type: 'file', mimeType, data, providerState }, data)
  }

  #picture(picture: ImageContent, isDraft: boolean): void {
    const key = this.#draft ?? `media ${++this.#count}`
    this.#draft = isDraft ? key : undefined
    this.#builder.whole(key, picture)
  }

  /** Adds a file. Merges adjacent raw audio parts into one file. Any other file is complete. */
  #file(file: FileContent, data: string): void {
    const isNext = this.#sound?.file.mimeType === file.mimeType && file.providerState?.payload.thoughtSignature === undefined
    if (this.#sound !== undefined && isNext) {
      this.#sound.pieces.push(data)
      return
    }
    this.settle()
    const key = `media ${++this.#count}`
    if (isBareSound(file.mimeType)) this.#sound = { key, file, pieces: [data] }
    this.#builder.whole(key, file)
  }

  #call(part: JsonObject, name: string, { id: given, args, language, code }: Record<string, unknown>): void {
    if (part.toolCall) this.hasCalls = true
    const id = typeof given === 'string' && given !== '' ? given : newCallId()
    warnOfRepeat(this.#builder, id)
    this.#open.push({ id, kind: name })
    const input = shownOutput(name === 'code_execution' ? { language, code } : args)
    this.#show({ type: 'serviceTool', id, name, ...(input !== undefined && { input }), status: 'running' }, { call: part })
  }

  /** Finds the call of a result by id, otherwise the first open call of its kind. */
  #result(part: JsonObject, kind: string, { id: given, outcome, output, response }: Record<string, unknown>): void {
    const at = this.#open.findIndex((open) => (typeof given === 'string' && given !== '' ? open.id === given : open.kind === kind))
    const [open] = at === -1 ? [] : this.#open.splice(at, 1)
    const call = open && this.#builder.serviceToolOf(open.id)
    const isFailed = typeof outcome === 'string' && outcome !== 'OUTCOME_OK'
    const shown = shownOutput(response ?? output)
    const known = call ?? { type: 'serviceTool' as const, id: typeof given === 'string' && given !== '' ? given : newCallId(), name: kind }
    const error = { code: String(outcome), ...(typeof output === 'string' && { message: output.slice(0, 2000) }) }
    const came = isFailed
      ? { status: 'failed' as const, error }
      : { status: 'done' as const, ...(shown !== undefined && { output: shown }) }
    this.#show({ ...known, ...came }, withResult(this.#builder.message.content, call, part))
  }

  #show(block: ServiceToolContent, payload: ServicePayload): void {
    this.#builder.serviceTool({ ...block, providerState: this.#stateOf({ ...payloadOf(block), ...payload }) })
  }

  #unknown(part: JsonObject): boolean {
    const kind = Object.keys(part).find((name) => !metadataNames.has(name) && part[name] !== null)
    if (kind === undefined) return false
    this.#builder.unknown(`part ${++this.#count}`, kind, this.#stateOf({ part }))
    return true
  }
}

function nameOf(value: unknown): string {
  const { toolType }: { toolType?: unknown } = Object(value)
  return typeof toolType === 'string' ? toolType.toLowerCase() : 'service_tool'
}

/** Creates a unique id of 37 characters, because the strictest provider accepts 40. */
export function newCallId(): string {
  return `call_${newId().replaceAll('-', '')}`
}
