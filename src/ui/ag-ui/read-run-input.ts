import { parsedJson } from '../../base/json/json-value.ts'
import { isJsonObject, type JsonObject, type JsonValue, jsonObjectsIn } from '../../contract/json.ts'
import type { Content } from '../../contract/message/content.ts'
import { isId } from '../../contract/message/identity.ts'
import type { UserMessage } from '../../contract/message/message.ts'
import type { ClientToolDeclaration } from '../../contract/model/request-settings.ts'
import { isToolName } from '../../contract/tool/tool-result.ts'
import {
  parseApprovalId,
  problem,
  type Read,
  readBody,
  readFile,
  type ToolDecision,
  type ToolOutcome,
  textIn,
} from '../shared/client-input.ts'
import { type ClientState, readState } from './shared-state.ts'

/** A parsed request of an AG-UI client. Without a message and decisions it asks to follow the active or last run. */
export interface RunInput {
  threadId: string
  runId: string
  /** The user's message, under the client's id. Clients send it with every run: a server that has the id already ignores it. */
  message?: UserMessage & { id: string }
  /** Decisions about the interrupts of the run before. Anything but a clear approval denies. */
  decisions: ToolDecision[]
  /** Results of client tool calls: the tool messages after the last calls. Accept one only for a pending client tool call. */
  results: ToolOutcome[]
  /** Tools that the client declares. The server decides which are allowed. */
  tools: ClientToolDeclaration[]
  /** The client's shared state, if it has any. */
  state?: ClientState
}

/**
 * Parses a `RunAgentInput`: JSON, parsed or as text.
 *
 * **Contract**
 * - Of the conversation it reads only the last message, if the user sent it, and the tool messages after the last calls. Ignores
 *   the client's context.
 * - A decision contains the hash of the shown arguments; `run.approve` refuses it for others.
 * - Pictures, sounds, videos, documents and `binary` parts have their data, or an https URL for the provider; nothing is fetched
 *   here. An unreadable part or result is a `problem` with a message that names it.
 */
export function readRunInput(body: unknown): Read<RunInput> {
  const { value, problem: wrong } = readBody(body)
  if (value === undefined) return problem(wrong)
  const { threadId, runId } = value
  if (!isId(threadId) || !isId(runId)) return problem('threadId and runId must be the ids of the conversation and of the run.')
  const decisions: ToolDecision[] = []
  for (const entry of jsonObjectsIn(value.resume)) {
    const decision = readDecision(entry)
    if (decision.value === undefined) return decision
    decisions.push(decision.value)
  }
  const tools: ClientToolDeclaration[] = []
  for (const [index, entry] of jsonObjectsIn(value.tools).entries()) {
    const tool = readTool(entry, `tools[${index}]`)
    if (tool.value === undefined) return tool
    tools.push(tool.value)
  }
  const state = readState(value.state)
  if (state.problem !== undefined) return state
  const messages = jsonObjectsIn(value.messages)
  const results = resultsIn(messages)
  if (results.value === undefined) return results
  const asked = {
    threadId,
    runId,
    decisions,
    results: results.value,
    tools,
    ...(state.value !== undefined && { state: state.value }),
  }
  const last = messages.at(-1)
  if (last?.role !== 'user') return { value: asked }
  const message = readUserMessage(last)
  return message.value === undefined ? message : { value: { ...asked, message: message.value } }
}

function readTool({ name, description, parameters }: JsonObject, place: string): Read<ClientToolDeclaration> {
  if (!isToolName(name)) return problem(`${place}.name must be 1 to 64 letters, digits, "_" or "-".`)
  if (description !== undefined && typeof description !== 'string') return problem(`${place}.description must be a text.`)
  // A tool may take nothing.
  const schema: JsonObject = isJsonObject(parameters) ? parameters : { type: 'object', properties: {} }
  return { value: { name, description: description ?? '', parameters: schema } }
}

/** Results of our own tools are repeated and ignored. An unreadable result is reported, because its call would wait forever. */
function resultsIn(messages: readonly JsonObject[]): Read<ToolOutcome[]> {
  // A client may drop calls; the results are then at the end.
  const calls = messages.findLastIndex(({ role, toolCalls }) => role === 'assistant' && jsonObjectsIn(toolCalls).length > 0)
  const from = calls < 0 ? messages.findLastIndex(({ role }) => role !== 'tool') + 1 : calls + 1
  const outcomes: ToolOutcome[] = []
  for (const [index, { role, toolCallId, content, error }] of messages.slice(from).entries()) {
    if (role !== 'tool') continue
    const place = `messages[${from + index}]`
    if (typeof toolCallId !== 'string' || toolCallId === '')
      return problem(`${place}.toolCallId must be the id of the call that the message is the result of.`)
    // Parts are those of our own results, with pictures in them.
    if (!isId(toolCallId) || Array.isArray(content)) continue
    if (typeof error === 'string' && error !== '') outcomes.push({ toolCallId, answer: { error } })
    else if (typeof content === 'string') outcomes.push({ toolCallId, answer: { output: valueIn(content) } })
    else return problem(`${place}.content must be a text: what came of the call, JSON among it.`)
  }
  return { value: outcomes }
}

/** The object or list that a text is; else the text. */
function valueIn(content: string): JsonValue {
  const value = parsedJson(content)
  return typeof value === 'object' && value !== null ? (value as JsonValue) : content // parsed from JSON
}

function readDecision({ interruptId, status, payload }: JsonObject): Read<ToolDecision> {
  const request = typeof interruptId === 'string' ? parseApprovalId(interruptId) : undefined
  if (request === undefined) return problem('resume holds an interruptId that is none of this server.')
  const { approved, reason }: JsonObject = isJsonObject(payload) ? payload : { approved: payload ?? false }
  const isYes = status === 'resolved' && approved === true
  return { value: { ...request, approved: isYes, ...(typeof reason === 'string' && reason !== '' && { reason }) } }
}

function readUserMessage({ id, content }: JsonObject): Read<UserMessage & { id: string }> {
  if (!isId(id)) return problem('The last message has no id.')
  const blocks: Content[] = []
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : jsonObjectsIn(content)
  for (const [index, part] of parts.entries()) {
    const block = readPart(part, `content[${index}]`)
    if (block.problem !== undefined) return block
    if (block.value !== undefined) blocks.push(block.value)
  }
  if (blocks.length === 0) return problem('The message is empty.')
  return { value: { role: 'user', id, content: blocks, timestamp: Date.now() } }
}

function readPart(part: JsonObject, place: string): Read<Content | undefined> {
  const { type, text, source, metadata } = part
  if (type === 'text' && typeof text === 'string') return { value: text.trim() === '' ? undefined : { type: 'text', text } }
  if (type === 'binary') {
    const { mimeType, data, url, filename } = part
    return readFile({ mimeType: textIn(mimeType), data: textIn(data), url: textIn(url), name: textIn(filename) }, place)
  }
  if (!isJsonObject(source)) return problem(`${place} is neither text nor media with its source.`)
  const { type: kind, value, mimeType } = source
  const given = kind === 'data' ? { data: textIn(value) } : kind === 'url' ? { url: textIn(value) } : {}
  const name = isJsonObject(metadata) ? textIn(metadata.filename) : undefined
  return readFile({ mimeType: textIn(mimeType), ...given, name }, place)
}
