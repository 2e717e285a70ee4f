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

/** What an AG-UI client asks for, as far as a client may say it. With neither message nor decisions: to be told of the run that is on, or was last. */
export interface RunInput {
  threadId: string
  runId: string
  /** What the person says, under the client's own id. It comes again with every run: a server that has the id already takes it for said. */
  message?: UserMessage & { id: string }
  /** What a person has decided about the interrupts of the run before. Anything but a clear approval denies. */
  decisions: ToolDecision[]
  /** What came of calls that the page runs: the messages of tools after the last calls. Only one for a call that waits for a page is to be believed. */
  results: ToolOutcome[]
  /** Tools that the page brings along. A server says which of them may be. */
  tools: ClientToolDeclaration[]
  /** What the page has of the shared state, where it has any. */
  state?: ClientState
}

/**
 * Reads a `RunAgentInput`: JSON, parsed or as text.
 *
 * **Contract**
 * - Of the conversation only the last message is read, if the user said it, and the messages of tools after the last calls. Context of the client is not
 *   taken.
 * - A decision holds the hash of the arguments that were shown; `run.approve` refuses it for others.
 * - Pictures, sounds, videos, documents and `binary` parts come with their data, or by an https address for the service; nothing is fetched here.
 *   A part that cannot be read is a `problem` that names the part, for a person to read; so is a result that is none.
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

/** Results of our own tools come again too: nobody waits for these. One that cannot be read is said to be so: its call would wait on without a word. */
function resultsIn(messages: readonly JsonObject[]): Read<ToolOutcome[]> {
  // A client may keep no calls; then the results stand at the end.
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
