import { parseArguments } from '../../../base/json/call-arguments.ts'
import { type JsonObject, type JsonValue, ownOf } from '../../../contract/json.ts'
import type { Citation, DocumentPlace, ProviderState } from '../../../contract/message/content.ts'
import { isHttpsAddress } from '../../../contract/message/media.ts'
import type { AssistantBuilder } from '../../kit/decode/assistant-builder.ts'
import { shownOutput, warnOfRepeat } from '../../kit/optional/server-tools/service-output.ts'
import { payloadOf, withResult } from '../../kit/optional/server-tools/service-payload.ts'
import type { WireResult } from './wire.ts'

/** Assembles provider-executed tools from their blocks. Source: docs/providers/bedrock.md */
export class ServiceBlocks {
  readonly #builder: AssistantBuilder
  readonly #stateOf: (payload: JsonObject) => ProviderState

  constructor(builder: AssistantBuilder, stateOf: (payload: JsonObject) => ProviderState) {
    this.#builder = builder
    this.#stateOf = stateOf
  }

  /** Starts a call whose input follows. */
  begin(id: string, name: string, type: string): void {
    warnOfRepeat(this.#builder, id)
    const call = { toolUse: { toolUseId: id, name, input: {}, type } }
    this.#builder.serviceTool({ type: 'serviceTool', id, name, status: 'running', providerState: this.#stateOf({ call }) })
  }

  /** Sets the complete input of a call as JSON text. */
  input(id: string, raw: string): void {
    const block = this.#builder.serviceToolOf(id)
    const { call } = payloadOf(block)
    const read = parseArguments(raw.trim() === '' ? '{}' : raw)
    if (block === undefined || call === undefined || read.fault !== undefined) return
    const toolUse = { ...Object(call.toolUse), input: read.arguments }
    this.#builder.serviceTool({ ...block, input: read.arguments, providerState: this.#stateOf({ call: { toolUse } }) })
  }

  /** Adds a complete result. Returns false if the result refers to no call. */
  result({ toolUseId: id, type, status }: WireResult, content: JsonValue[]): boolean {
    if (typeof id !== 'string') return false
    const call = this.#builder.serviceToolOf(id)
    const words = content.flatMap((each) => (typeof Object(each).text === 'string' ? [String(Object(each).text)] : []))
    const values = content.flatMap((each) => (Object(each).json === undefined ? [] : [Object(each).json as JsonValue]))
    const outputs = values.length > 0 && words.length > 0 ? [...values, words.join('')] : values
    const output = shownOutput(outputs.length === 0 ? words.join('') : outputs.length === 1 ? outputs[0] : outputs)
    const name = call?.name ?? String(type).replace(/_result$/, '')
    const toolResult: JsonObject = { toolUseId: id, content }
    if (typeof status === 'string') toolResult.status = status
    if (typeof type === 'string') toolResult.type = type
    const known = call ?? { type: 'serviceTool' as const, id, name }
    const failed = { status: 'failed' as const, error: { code: 'toolFailed', ...(words.length > 0 && { message: words.join('') }) } }
    const came = status === 'error' ? failed : { status: 'done' as const, ...(output !== undefined && { output }) }
    const payload = withResult(this.#builder.message.content, call, { toolResult })
    this.#builder.serviceTool({ ...known, ...came, providerState: this.#stateOf(payload) })
    return true
  }
}

const units: Readonly<Record<string, DocumentPlace['unit']>> = {
  documentPage: 'page',
  documentChar: 'char',
  documentChunk: 'block',
  searchResultLocation: 'block',
}

/** Returns the kind of an unknown citation location, or `undefined` if it is known. */
export function unknownPlaceIn({ location }: Record<string, unknown>): string | undefined {
  return Object.keys(Object(location)).find((kind) => kind !== 'web' && !Object.hasOwn(units, kind))
}

/** Converts a citation. The result has no range, because the API cites whole text blocks. */
export function citationOf({ title, source, sourceContent, location }: Record<string, unknown>): Citation {
  const [kind = '', place]: [string?, unknown?] = Object.entries(Object(location))[0] ?? []
  const { url, domain, documentIndex, searchResultIndex, start, end }: Record<string, unknown> = Object(place)
  const index = documentIndex ?? searchResultIndex
  const unit = ownOf(units, kind)
  const quoted = Array.isArray(sourceContent) ? sourceContent.map((each) => String(Object(each).text ?? '')).join('') : ''
  const isPlace = unit !== undefined && typeof index === 'number' && typeof start === 'number' && typeof end === 'number'
  const name = [title, domain, source].find((each): each is string => typeof each === 'string')
  const address = typeof url === 'string' ? url : typeof source === 'string' && isHttpsAddress(source) ? source : undefined
  return {
    ...(address !== undefined && { url: address }),
    ...(name !== undefined && { title: name }),
    ...(quoted !== '' && { citedText: quoted }),
    ...(isPlace && { document: { index, unit, start, end } }),
  }
}
