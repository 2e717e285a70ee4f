import { parseArguments } from '../../../base/json/call-arguments.ts'
import { isJsonObject, type JsonObject, type JsonValue, jsonObjectIn, jsonObjectsIn } from '../../../contract/json.ts'
import type { ServiceToolContent, ServiceToolError } from '../../../contract/message/content.ts'
import { shownOutput } from '../../kit/optional/server-tools/service-output.ts'

/** Role of a provider-executed item. */
export type ServiceRole =
  /** A call, with its output unless the output is a separate item. */
  | 'call'
  /** The separate output of a call. */
  | 'output'
  /** An item that belongs to the conversation but is not shown. */
  | 'aside'
  /** An unknown item. */
  | 'unknown'

/** Data of a call to display. */
export type ServiceView = Pick<ServiceToolContent, 'name' | 'input' | 'output' | 'error' | 'needsApproval'>

type Reader = (item: JsonObject) => ServiceView

const readers: ReadonlyMap<string, Reader> = new Map(
  Object.entries<Reader>({
    web_search_call: (item) => readSearch(item),
    file_search_call: (item) => ({
      name: 'file_search',
      ...input({ queries: item.queries ?? [] }),
      ...output(jsonObjectsIn(item.results).map(fileFound)),
    }),
    code_interpreter_call: (item) => ({ name: 'code_interpreter', ...input({ code: item.code ?? '' }), ...output(codeOutput(item)) }),
    image_generation_call: (item) => ({ name: 'image_generation', ...output(pictureFacts(item)) }),
    mcp_call: (item) => ({ name: mcpName(item), ...input(argumentsIn(item.arguments)), ...output(item.output) }),
    mcp_approval_request: (item) => ({ name: mcpName(item), ...input(argumentsIn(item.arguments)), needsApproval: true }),
    shell_call: (item) => ({ name: 'shell', ...input({ commands: jsonObjectIn(item.action).commands ?? [] }) }),
    tool_search_call: (item) => ({ name: 'tool_search', ...input(argumentsIn(item.arguments)) }),
    program: (item) => ({ name: 'program', ...input({ code: item.code ?? '' }) }),
    custom_tool_call: (item) => ({ name: textIn(item.name) || 'custom_tool', ...input(argumentsIn(item.input)) }),
    x_search_call: (item) => ({ name: 'x_search', ...input(argumentsIn(item.arguments) ?? item.action) }),
    code_execution_call: (item) => ({
      name: 'code_execution',
      ...input(argumentsIn(item.arguments) ?? item.code),
      ...output(item.outputs),
    }),
  }),
)

const outputReaders: ReadonlyMap<string, { of: string; read: (item: JsonObject) => JsonValue | undefined }> = new Map(
  Object.entries({
    shell_call_output: { of: 'shell_call', read: (item: JsonObject) => item.output },
    tool_search_output: {
      of: 'tool_search_call',
      read: (item: JsonObject) => jsonObjectsIn(item.tools).flatMap((tool) => toolNames(tool)),
    },
    program_output: { of: 'program', read: (item: JsonObject) => item.result },
  }),
)

const answeredTypes: ReadonlySet<string> = new Set([...outputReaders.values()].map(({ of }) => of))

/**
 * Returns the role of `item`. Items that a caller must run, but that this package does not support, are `unknown`. Source:
 * docs/providers/openai-responses.md
 */
export function roleOf(item: JsonObject): ServiceRole {
  const type = textIn(item.type)
  if (type === 'mcp_list_tools') return 'aside'
  const isClients = item.execution === 'client' || (type === 'shell_call' && jsonObjectIn(item.environment).type !== 'container_reference')
  if (isClients) return 'unknown'
  if (readers.has(type)) return 'call'
  return outputReaders.has(type) ? 'output' : 'unknown'
}

/** Returns whether the output of this call is a separate item. */
export function isAnsweredApart({ type }: JsonObject): boolean {
  return answeredTypes.has(textIn(type))
}

/** Returns the data of a call to display, which may be incomplete. */
export function viewOf(item: JsonObject): ServiceView {
  const type = textIn(item.type)
  const view = readers.get(type)?.(item) ?? { name: type }
  const error = errorOf(item)
  return error === undefined ? view : { ...view, error }
}

/** Returns the call type of an output item and the output to display. */
export function outputOf(item: JsonObject): { of: string; shown: JsonValue | undefined } | undefined {
  const reader = outputReaders.get(textIn(item.type))
  return reader && { of: reader.of, shown: shownOutput(reader.read(item)) }
}

/** Returns the id of an item in the history. An approved call keeps its request's id. */
export function idOf(item: JsonObject): string {
  return textIn(item.approval_request_id) || textIn(item.id) || textIn(item.call_id)
}

/** Returns a text field of an item. Empty if absent. */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function input(value: JsonValue | undefined): { input?: JsonValue } {
  const shown = shownOutput(value)
  return shown === undefined ? {} : { input: shown }
}

function output(value: JsonValue | undefined): { output?: JsonValue } {
  const shown = Array.isArray(value) && value.length === 0 ? undefined : shownOutput(value)
  return shown === undefined ? {} : { output: shown }
}

/** Reads a search. xAI sends a name and arguments instead of the action. */
function readSearch(item: JsonObject): ServiceView {
  const { sources, ...action } = jsonObjectIn(item.action)
  const asked = Object.keys(action).length > 0 ? action : argumentsIn(item.arguments)
  const found = [...jsonObjectsIn(sources), ...jsonObjectsIn(item.results)]
  return { name: 'web_search', ...input(asked), ...output(found) }
}

function fileFound({ filename, file_id, score, text }: JsonObject): JsonObject {
  return { file: filename ?? file_id ?? null, score: score ?? null, text: text ?? null }
}

/** Returns the output of executed code. Images become blocks. */
function codeOutput(item: JsonObject): JsonValue | undefined {
  const outputs = jsonObjectsIn(item.outputs)
  const printed = outputs.map(({ type, logs }) => (type === 'logs' ? textIn(logs) : '')).join('')
  const others = outputs.filter(({ type }) => type !== 'logs' && type !== 'image')
  if (others.length > 0) return printed === '' ? others : [printed, ...others]
  return printed === '' ? undefined : printed
}

/** Returns image metadata. */
function pictureFacts(item: JsonObject): JsonValue | undefined {
  const names = ['revised_prompt', 'size', 'quality', 'background', 'output_format', 'action']
  const facts = names.flatMap((name) => (typeof item[name] === 'string' ? [[name, item[name]] as const] : []))
  return facts.length === 0 ? undefined : Object.fromEntries(facts)
}

function mcpName(item: JsonObject): string {
  return `mcp.${textIn(item.server_label)}.${textIn(item.name)}`
}

/** Returns parsed arguments, or the text if it is not a JSON object. */
function argumentsIn(value: JsonValue | undefined): JsonValue | undefined {
  if (typeof value !== 'string') return value
  if (value.trim() === '') return undefined
  const parsed = parseArguments(value)
  return parsed.fault === undefined ? parsed.arguments : value
}

/** Returns tool names: functions by name, namespaced functions by namespace and name, servers by label. */
function toolNames({ type, name, server_label, tools }: JsonObject): string[] {
  if (type !== 'namespace') return [textIn(name) || textIn(server_label) || textIn(type)]
  return jsonObjectsIn(tools).map((tool) => `${textIn(name)}.${textIn(tool.name)}`)
}

function errorOf({ status, error }: JsonObject): ServiceToolError | undefined {
  if (typeof error === 'string' && error !== '') return { code: 'failed', message: error }
  if (isJsonObject(error)) {
    const message =
      textIn(error.message) ||
      jsonObjectsIn(error.content)
        .map(({ text }) => textIn(text))
        .join('\n')
    const code = textIn(error.type) || (typeof error.code === 'number' ? String(error.code) : textIn(error.code)) || 'failed'
    return message === '' ? { code } : { code, message }
  }
  return status === 'failed' ? { code: 'failed' } : undefined
}
