import { parseArguments } from '../../base/json/call-arguments.ts'
import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { ProviderState, ServiceToolContent, ServiceToolError } from '../../contract/message/content.ts'
import { typeByBytes, typeByName } from '../../contract/message/media.ts'
import type { AssistantBuilder } from '../kit/decode/assistant-builder.ts'
import { shownOutput } from '../kit/decode/service-output.ts'
import type { BlockKey } from '../kit/decode/slots.ts'
import type { ReplayPayload } from './replay-state.ts'

/** What is told of a tool that the service ran. */
interface Told {
  name?: string
  input?: unknown
  output?: unknown
  error?: ServiceToolError | undefined
}

/** An item of a tool that the service runs, off the wire: any field may be anything. */
type ServiceItem = Record<string, unknown>

/** How each kind of item is told. Another kind is not known. Source: https://platform.openai.com/docs/api-reference/responses */
const tellings: Readonly<Record<string, (item: ServiceItem) => Told>> = {
  web_search_call: ({ action, arguments: args }) => {
    const { sources, ...input }: Record<string, unknown> = Object(action)
    return { input: action === undefined ? parsed(args) : input, output: Array.isArray(sources) ? sources.map(sourceOf) : undefined }
  },
  x_search_call: ({ arguments: args, action }) => ({ input: action ?? parsed(args) }),
  file_search_call: ({ queries, results }) => ({ input: { queries }, output: Array.isArray(results) ? results.map(fileFound) : undefined }),
  code_interpreter_call: ({ code, outputs }) => ({ input: { code }, output: Array.isArray(outputs) ? logsOf(outputs) : undefined }),
  code_execution_call: ({ arguments: args, outputs }) => ({ input: parsed(args), output: outputs }),
  image_generation_call: ({ revised_prompt: prompt, error }) => ({ output: prompt, error: errorOf(error) }),
  mcp_call: ({ server_label: server, name, arguments: args, output, error }) => ({
    name: `mcp.${server}.${name}`,
    input: parsed(args),
    output,
    error: errorOf(error),
  }),
  mcp_approval_request: ({ server_label: server, name, arguments: args }) => ({ name: `mcp.${server}.${name}`, input: parsed(args) }),
  shell_call: ({ action }) => ({ input: { commands: Object(action).commands } }),
  tool_search_call: ({ arguments: args }) => ({ input: parsed(args) }),
  program: ({ code }) => ({ input: { code } }),
  custom_tool_call: ({ name, input }) => ({ name: String(name), input: parsed(input) }),
}

/** The items that say what came of another one, and what of them is told. */
const endings: Readonly<Record<string, { of: string; output: (item: ServiceItem) => unknown }>> = {
  shell_call_output: { of: 'shell_call', output: ({ output }) => (Array.isArray(output) ? output.map(runOf) : output) },
  tool_search_output: { of: 'tool_search_call', output: ({ tools }) => (Array.isArray(tools) ? tools.flatMap(namesOf) : undefined) },
  program_output: { of: 'program', output: ({ result }) => result },
}

/** Items that say nothing to a person, and go back. */
const silent: ReadonlySet<string> = new Set(['mcp_list_tools', 'compaction'])

/** Writes the items of tools that the service ran as blocks of a message. Source: docs/concepts/service-tools.md */
export class ServiceItems {
  readonly #builder: AssistantBuilder
  readonly #stateOf: (payload: ReplayPayload) => ProviderState
  /** Calls whose end is an item of its own, in their order. */
  readonly #open: { type: string; callId: unknown; id: string }[] = []

  constructor(builder: AssistantBuilder, stateOf: (payload: ReplayPayload) => ProviderState) {
    this.#builder = builder
    this.#stateOf = stateOf
  }

  /** An item begins. What it asks for may come later. */
  begin(item: ServiceItem): void {
    const { type, id } = item
    const telling = typeof type === 'string' && type !== 'mcp_approval_request' ? tellings[type] : undefined
    if (telling !== undefined && typeof id === 'string') this.#show(item, telling(item), 'running', {})
  }

  /** A picture gets finer. */
  partial(id: unknown, picture: unknown): void {
    if (typeof id === 'string' && typeof picture === 'string' && picture !== '') this.#picture(id, picture)
  }

  /** An item is complete. `after` names the reasoning before it. */
  end(key: BlockKey, item: ServiceItem, after: ReplayPayload): void {
    const type = String(item.type)
    const telling = Object.hasOwn(tellings, type) ? tellings[type] : undefined
    const ending = Object.hasOwn(endings, type) ? endings[type] : undefined
    if (ending !== undefined && this.#endOther(item, ending)) return
    if (telling !== undefined && typeof item.id === 'string') this.#endCall(item, item.id, telling(item), after)
    else this.#keepUnknown(key, type, item, after)
  }

  #endCall(item: ServiceItem, id: string, told: Told, after: ReplayPayload): void {
    const type = String(item.type)
    const hasEnding = Object.values(endings).some(({ of }) => of === type)
    if (hasEnding) this.#open.push({ type, callId: item.call_id, id })
    const isFailed = item.status === 'failed' || item.status === 'incomplete' || told.error !== undefined
    const isWaiting = type === 'mcp_approval_request'
    const status = isFailed ? 'failed' : isWaiting || hasEnding ? 'running' : 'done'
    // The picture is kept once, in its own block.
    const { result, ...kept } = item
    const isPicture = type === 'image_generation_call' && typeof result === 'string'
    this.#show(item, told, status, { item: (isPicture ? kept : item) as JsonObject, ...after }) // off the wire, so it is JSON
    if (isPicture && result !== '') this.#picture(id, result)
    if (type === 'code_interpreter_call') this.#pictures(item.outputs)
  }

  #show(item: ServiceItem, told: Told, status: ServiceToolContent['status'], payload: ReplayPayload): void {
    const { id, approval_request_id: asked, type } = item
    const output = shownOutput(told.output)
    const name = told.name ?? String(type).replace(/_call$/, '')
    this.#builder.serviceTool({
      type: 'serviceTool',
      // The call that somebody has approved is the one that was asked about.
      id: typeof asked === 'string' && asked !== '' ? asked : String(id),
      name,
      ...(told.input !== undefined && { input: shownOutput(told.input) ?? null }),
      status,
      ...(output !== undefined && { output }),
      ...(status === 'failed' && { error: told.error ?? { code: String(item.status ?? 'failed') } }),
      ...(type === 'mcp_approval_request' && { needsApproval: true as const }),
      providerState: this.#stateOf(payload),
    })
  }

  /** What came of a call: by its call id, else the first that waits. False where there is none. */
  #endOther(item: ServiceItem, { of, output }: (typeof endings)[string]): boolean {
    const at = this.#open.findIndex(({ type, callId }) => type === of && (item.call_id == null || callId === item.call_id))
    const [open] = at === -1 ? [] : this.#open.splice(at, 1)
    const block = open === undefined ? undefined : this.#builder.serviceToolOf(open.id)
    if (block?.providerState === undefined) return false
    const shown = shownOutput(output(item))
    const { payload } = block.providerState
    const providerState = { ...block.providerState, payload: { ...payload, result: item as JsonObject } } // off the wire, so it is JSON
    const status = item.status === 'failed' ? 'failed' : 'done'
    this.#builder.serviceTool({ ...block, status, ...(shown !== undefined && { output: shown }), providerState })
    return true
  }

  #keepUnknown(key: BlockKey, kind: string, item: ServiceItem, after: ReplayPayload): void {
    const providerState = this.#stateOf({ item: item as JsonObject, ...after }) // off the wire, so it is JSON
    if (!silent.has(kind)) this.#builder.unknown(key, kind, providerState)
    else this.#builder.whole(key, { type: 'opaque', kind, providerState })
    const { error, server_label: server } = item
    if (kind === 'mcp_list_tools' && typeof error === 'string') {
      this.#builder.warn(`The service could not list the tools of the MCP server "${String(server).slice(0, 60)}": ${error.slice(0, 300)}`)
    }
  }

  #picture(itemId: string, data: string): void {
    const type = typeByBytes(data)
    const mimeType = type?.startsWith('image/') === true ? type : 'image/png'
    this.#builder.whole(`picture ${itemId}`, { type: 'image', mimeType, data, providerState: this.#stateOf({ of: itemId }) })
  }

  /** Pictures that code made, by address. */
  #pictures(outputs: unknown): void {
    if (!Array.isArray(outputs)) return
    for (const { type, url } of outputs.map((each: unknown): Record<string, unknown> => Object(each))) {
      if (type !== 'image' || typeof url !== 'string') continue
      const path = url.split(/[?#]/, 1)[0] ?? ''
      const mimeType = typeByName(path) ?? 'image/png'
      this.#builder.whole(`picture ${url}`, { type: 'image', mimeType, url, providerState: this.#stateOf({}) })
    }
  }
}

/** Arguments as text of JSON, or as what they are. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const read = parseArguments(value)
  return read.fault === undefined ? read.arguments : value === '' ? undefined : value
}

function errorOf(error: unknown): ServiceToolError | undefined {
  if (error === undefined || error === null) return undefined
  if (typeof error === 'string') return { code: 'toolFailed', message: error }
  const { type, code, message, content }: Record<string, unknown> = Object(error)
  const words = typeof message === 'string' ? message : content === undefined ? undefined : JSON.stringify(content)
  return { code: String(type ?? code ?? 'toolFailed'), ...(words !== undefined && { message: words.slice(0, 2000) }) }
}

function sourceOf(source: unknown): unknown {
  const { url, title, name }: Record<string, unknown> = Object(source)
  return typeof url === 'string' ? { url, ...(typeof title === 'string' && { title }) } : (name ?? source)
}

function fileFound(result: unknown): unknown {
  const { filename, score, text }: Record<string, unknown> = Object(result)
  return { file: filename, score, text }
}

function logsOf(outputs: readonly unknown[]): string | undefined {
  const logs = outputs.flatMap((each) => (typeof Object(each).logs === 'string' ? [String(Object(each).logs)] : []))
  return logs.length === 0 ? undefined : logs.join('')
}

function runOf(run: unknown): JsonValue {
  const { stdout, stderr, outcome }: Record<string, JsonValue> = Object(run)
  return { stdout: stdout ?? '', stderr: stderr ?? '', outcome: outcome ?? null }
}

/** Names of the tools that were found, with that of their namespace. */
function namesOf(tool: unknown): unknown[] {
  const { type, name, tools }: Record<string, unknown> = Object(tool)
  if (type !== 'namespace' || !Array.isArray(tools)) return [name]
  return tools.map((each) => `${String(name)}.${String(Object(each).name)}`)
}
