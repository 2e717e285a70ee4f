import { parseArguments } from '../../base/json/call-arguments.ts'
import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { ProviderState, ServiceToolContent, ServiceToolError } from '../../contract/message/content.ts'
import type { Message } from '../../contract/message/message.ts'
import type { AssistantBuilder } from '../kit/decode/assistant-builder.ts'
import { shownOutput, warnOfRepeat } from '../kit/optional/server-tools/service-output.ts'
import { payloadOf, type ServicePayload, withResult } from '../kit/optional/server-tools/service-payload.ts'
import type { WireBlock } from './wire.ts'

/** A content block as received. */
export type WireServiceBlock = {
  type?: unknown
  id?: unknown
  name?: unknown
  server_name?: unknown
  tool_use_id?: unknown
  content?: unknown
  is_error?: unknown
}

/** Returns whether a block is a provider-executed call. */
export function isServiceCall(type: string): boolean {
  return type === 'server_tool_use' || type === 'mcp_tool_use'
}

/** Returns whether a block is the result of such a call. */
export function isServiceResult(type: string): boolean {
  return type.endsWith('_tool_result')
}

/** Assembles provider-executed tools from their blocks. Pairs calls and results by id, even across messages. */
export class ServiceBlocks {
  readonly #builder: AssistantBuilder
  readonly #stateOf: (payload: JsonObject) => ProviderState
  readonly #earlier: readonly Message[]

  constructor(builder: AssistantBuilder, stateOf: (payload: JsonObject) => ProviderState, earlier: readonly Message[]) {
    this.#builder = builder
    this.#stateOf = stateOf
    this.#earlier = earlier
  }

  /** Starts a call whose input follows. Returns `undefined` without an id. */
  open(wire: WireServiceBlock): string | undefined {
    const { id, name, server_name: server } = wire
    if (typeof id !== 'string' || typeof name !== 'string') return undefined
    warnOfRepeat(this.#builder, id)
    const toolName = typeof server === 'string' ? `mcp.${server}.${name}` : name
    this.#show({ type: 'serviceTool', id, name: toolName, status: 'running' }, { call: wire as JsonObject }) // Parsed JSON.
    return id
  }

  /** Sets the complete input as JSON text. Empty if the start event contained the input. */
  input(id: string, raw: string): void {
    const block = this.#builder.serviceToolOf(id)
    const payload = payloadOf(block)
    if (block === undefined || payload.call === undefined) return
    const parsed = parseArguments(raw.trim() === '' ? JSON.stringify(payload.call.input ?? {}) : raw)
    if (parsed.fault !== undefined) return
    this.#show({ ...block, input: parsed.arguments }, { ...payload, call: { ...payload.call, input: parsed.arguments } })
  }

  /** Adds a call's result. Returns false if the result refers to no call. */
  result(wire: WireServiceBlock): boolean {
    const { tool_use_id: id } = wire
    if (typeof id !== 'string') return false
    const call = this.#builder.serviceToolOf(id)
    const known = call ?? this.#inHistory(id)
    const name = known?.name ?? String(wire.type).replace(/_tool_result$/, '')
    const block: ServiceToolContent = {
      type: 'serviceTool',
      id,
      name,
      ...(known?.input !== undefined && { input: known.input }),
      ...outcomeOf(wire),
    }
    this.#show(block, withResult(this.#builder.message.content, call, wire as JsonObject)) // Parsed JSON.
    for (const fileId of fileIdsIn(wire.content)) this.#file(fileId)
    return true
  }

  #show(block: ServiceToolContent, payload: ServicePayload): void {
    this.#builder.serviceTool({ ...block, providerState: this.#stateOf(payload) })
  }

  /** Adds a file that code created. The provider stores the bytes. Only the id is known. */
  #file(fileId: string): void {
    const { api } = this.#stateOf({})
    this.#builder.whole(`file ${fileId}`, {
      type: 'file',
      mimeType: 'application/octet-stream',
      fileId,
      api,
      providerState: this.#stateOf({}),
    })
  }

  #inHistory(id: string): ServiceToolContent | undefined {
    for (const message of this.#earlier.toReversed()) {
      if (message.role !== 'assistant') continue
      const found = message.content.find((block) => block.type === 'serviceTool' && block.id === id)
      if (found?.type === 'serviceTool') return found
    }
    return undefined
  }
}

function outcomeOf({ content, is_error: isError }: WireServiceBlock): Pick<ServiceToolContent, 'status' | 'output' | 'error'> {
  const output = outputOf(content)
  const error =
    errorOf(content) ?? (isError === true ? { code: 'toolFailed', ...(typeof output === 'string' && { message: output }) } : undefined)
  if (error !== undefined) return { status: 'failed', ...(isError === true && output !== undefined && { output }), error }
  return { status: 'done', ...(output !== undefined && { output }) }
}

function errorOf(content: unknown): ServiceToolError | undefined {
  const { type, error_code: code, error_message: message }: Record<string, unknown> = Object(content)
  if (typeof code !== 'string' && !String(type).endsWith('_error')) return undefined
  return { code: typeof code === 'string' ? code : 'unknown', ...(typeof message === 'string' && { message }) }
}

function outputOf(content: unknown): JsonValue | undefined {
  if (Array.isArray(content))
    return shownOutput(content.length > 0 && content.every(isText) ? content.map(({ text }) => text).join('') : content.map(listed))
  const { stdout, stderr, return_code: code, tool_references: found, url, content: document }: Record<string, unknown> = Object(content)
  if (typeof stdout === 'string') return shownOutput(stderr === '' && code === 0 ? stdout : { stdout, stderr, return_code: code })
  if (Array.isArray(found)) return shownOutput(found.map((each) => Object(each).tool_name))
  const { title, source }: { title?: unknown; source?: { type?: unknown; data?: unknown } } = Object(document)
  if (typeof url === 'string') return shownOutput({ url, title, text: source?.type === 'base64' ? undefined : source?.data })
  return shownOutput(typeof Object(content).text === 'string' ? Object(content).text : content)
}

/** Returns the fields of a search result to show to users. */
function listed(entry: unknown): unknown {
  const { url, title, page_age: age }: Record<string, unknown> = Object(entry)
  return typeof url === 'string' ? { url, ...(typeof title === 'string' && { title }), ...(typeof age === 'string' && { age }) } : entry
}

function isText(entry: unknown): entry is { text: string } {
  return Object(entry).type === 'text' && typeof Object(entry).text === 'string'
}

function fileIdsIn(content: unknown): string[] {
  const made: unknown = Array.isArray(content) ? content : Object(content).content
  if (!Array.isArray(made)) return []
  return made.flatMap((each: unknown) => (typeof Object(each).file_id === 'string' ? [String(Object(each).file_id)] : []))
}

/** Block kinds that are preserved without a warning, because they must be sent back. */
export const expectedKinds: ReadonlySet<string> = new Set(['mcp_tool_listing', 'fallback', 'compaction', 'container_upload'])

/** Delta types that are handled in any block. */
export const shownDeltas: ReadonlySet<string> = new Set([
  'text_delta',
  'thinking_delta',
  'signature_delta',
  'input_json_delta',
  'citations_delta',
])

/** Returns the block to send back. `raw` is the streamed input, if any. */
export function keptBlock(block: WireBlock, raw: string | undefined): JsonObject {
  const input = raw === undefined ? undefined : parseArguments(raw)
  const whole = { ...block, ...(input !== undefined && input.fault === undefined && { input: input.arguments }) }
  return whole as JsonObject // Parsed JSON.
}

/** Returns the model that a `fallback` block switches to, or `undefined` if it specifies none. */
export function fallbackModel(block: WireBlock): unknown {
  const { to }: { to?: unknown } = block as JsonObject // Parsed JSON.
  return typeof to === 'string' ? to : Object(to).model
}
