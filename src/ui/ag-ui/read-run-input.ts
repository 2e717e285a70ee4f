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

/** A parsed request from an AG-UI client. Without a message or decisions, the client wants to follow the active or last run. */
export interface RunInput {
  threadId: string
  runId: string
  /** The user message, with the client's id. Clients send it with every run, so ignore a message whose id the server already has. */
  message?: UserMessage & { id: string }
  /** Decisions about the previous run's interrupts. Anything except an explicit approval is a denial. */
  decisions: ToolDecision[]
  /** Results of client tool calls, from the tool messages after the last calls. Accept a result only for a pending client tool call. */
  results: ToolOutcome[]
  /** Tools that the client declares. The server decides which ones to allow. */
  tools: ClientToolDeclaration[]
  /** The client's shared state, if any. */
  state?: ClientState
}

/**
 * Parses a `RunAgentInput`: JSON, parsed or as text.
 *
 * **Contract**
 * - Reads only two parts of the conversation: the last message, if it is a user message, and the tool messages after the last calls.
 *   Ignores the client's context.
 * - A decision contains the hash of the displayed arguments. `run.approve` rejects the decision for other arguments. `editedArgs` in the
 *   payload replaces the arguments.
 * - Image, audio, video, document and `binary` parts contain data or an https URL for the provider. This function fetches nothing. For an
 *   invalid part or result, returns a `problem` with its location.
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
  if (description !== undefined && typeof description !== 'string') return problem(`${place}.description must be a string.`)
  // A tool may have no parameters.
  const schema: JsonObject = isJsonObject(parameters) ? parameters : { type: 'object', properties: {} }
  return { value: { name, description: description ?? '', parameters: schema } }
}

/** Ignores results of server tools, which clients repeat. Reports an unreadable result, because its call would never complete. */
function resultsIn(messages: readonly JsonObject[]): Read<ToolOutcome[]> {
  // If the client dropped the calls, the results are the last messages.
  const calls = messages.findLastIndex(({ role, toolCalls }) => role === 'assistant' && jsonObjectsIn(toolCalls).length > 0)
  const from = calls < 0 ? messages.findLastIndex(({ role }) => role !== 'tool') + 1 : calls + 1
  const outcomes: ToolOutcome[] = []
  for (const [index, { role, toolCallId, content, error }] of messages.slice(from).entries()) {
    if (role !== 'tool') continue
    const place = `messages[${from + index}]`
    if (typeof toolCallId !== 'string' || toolCallId === '')
      return problem(`${place}.toolCallId must be the id of the call that the result belongs to.`)
    // An array of parts can only be a repeated server result that contains images.
    if (!isId(toolCallId) || Array.isArray(content)) continue
    if (typeof error === 'string' && error !== '') outcomes.push({ toolCallId, answer: { error } })
    else if (typeof content === 'string') outcomes.push({ toolCallId, answer: { output: valueIn(content) } })
    else return problem(`${place}.content must be a string with the result of the call, which may be JSON.`)
  }
  return { value: outcomes }
}

/** Returns the object or array that the text encodes as JSON, or otherwise the text. */
function valueIn(content: string): JsonValue {
  const value = parsedJson(content)
  return typeof value === 'object' && value !== null ? (value as JsonValue) : content // parsed from JSON
}

function readDecision({ interruptId, status, payload }: JsonObject): Read<ToolDecision> {
  const request = typeof interruptId === 'string' ? parseApprovalId(interruptId) : undefined
  if (request === undefined) return problem('resume has an interruptId that is not from this server.')
  const { approved, reason, editedArgs }: JsonObject = isJsonObject(payload) ? payload : { approved: payload ?? false }
  const isYes = status === 'resolved' && approved === true
  const edited = isYes ? (editedArgs ?? undefined) : undefined
  if (edited !== undefined && !isJsonObject(edited))
    return problem('editedArgs of resume must be a JSON object: the arguments of the call.')
  return {
    value: {
      ...request,
      approved: isYes,
      ...(typeof reason === 'string' && reason !== '' && { reason }),
      ...(edited !== undefined && { arguments: edited }),
    },
  }
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
  if (!isJsonObject(source)) return problem(`${place} is neither text nor media with a source.`)
  const { type: kind, value, mimeType } = source
  const given = kind === 'data' ? { data: textIn(value) } : kind === 'url' ? { url: textIn(value) } : {}
  const name = isJsonObject(metadata) ? textIn(metadata.filename) : undefined
  return readFile({ mimeType: textIn(mimeType), ...given, name }, place)
}
