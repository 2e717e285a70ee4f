import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts'
import { isId } from '../../../contract/message/identity.ts'
import { sessionId as sessionIdShape } from '../../../contract/session/session.ts'
import { fits } from '../../../contract/shape/read.ts'
import { readBody, type ToolDecision, textIn } from '../../shared/client-input.ts'
import { argumentsOf, resultContent, textContent, userContent } from '../shared/caller-content.ts'
import { type ReadRequest, readingOf, refuse } from '../shared/caller-fault.ts'
import { addSpoken, CallerConversation, type CallerRequest, type ReadOptions } from '../shared/caller-request.ts'
import { refuseAsked, responseSettings, settingsIn, type UnsupportedFields } from '../shared/caller-settings.ts'
import { callerFormat, callerTools } from '../shared/caller-tools.ts'
import { approvalIn, placeOf } from './reference.ts'
import { noEcho, type ResponseEcho } from './response.ts'

/** A parsed `POST /v1/responses`: messages, settings and decisions. */
export interface ResponseRequest extends CallerRequest {
  /** The conversation to continue: a session, and a loop if the request refers to a response or an item. */
  place?: { sessionId: string; loopId?: string }
  /** The caller's decisions about pending approvals. */
  decisions: ToolDecision[]
  /** Whether the response may be stored, so that another request can continue it. */
  mayStore: boolean
  /** Whether the request returns immediately and the client polls for the response. */
  isBackground: boolean
  echo: ResponseEcho
}

const unsupported: UnsupportedFields = {
  prompt: { why: 'The agent has its own prompt.' },
  max_tool_calls: { why: 'The server sets the limits of the agent.' },
  top_logprobs: { defaults: [0], why: 'An agent may call several models. Omit it.' },
  context_management: { why: 'The agent manages its own context.' },
}

/**
 * Parses the body of a Responses request: JSON, parsed or as text.
 *
 * **Contract**
 * - Follows the contract of `readCompletionRequest`. Ignores returned reasoning, because the agent stores it.
 * - `conversation` is a session id. `previous_response_id` and the ids of referenced items and approval requests contain the session id.
 *
 * Source: docs/guides/openai-endpoint.md
 */
export function readResponseRequest(body: unknown, options: ReadOptions = {}): ReadRequest<ResponseRequest> {
  const { value, problem } = readBody(body)
  if (value === undefined) return { fault: { message: problem } }
  return readingOf(() => responseRequest(value, options))
}

/** Parsed input items. */
interface ParsedInput {
  conversation: CallerConversation
  decisions: ToolDecision[]
  /** The last id of this server that the input refers to. */
  reference?: string
}

function responseRequest(body: JsonObject, options: ReadOptions): ResponseRequest {
  const { model, input, stream = false, store, background } = body
  if (!isId(model)) refuse('model', 'model must be the name of an agent: GET /v1/models lists them.')
  if (typeof stream !== 'boolean' && stream !== null) refuse('stream', 'stream must be true or false.')
  if (store !== undefined && store !== null && typeof store !== 'boolean') refuse('store', 'store must be true or false.')
  if (background !== undefined && background !== null && typeof background !== 'boolean')
    refuse('background', 'background must be true or false.')
  if (background === true && store === false) refuse('background', 'A background response must be stored. Omit store.')
  refuseAsked(body, unsupported)
  const parsed: ParsedInput = { conversation: new CallerConversation(options), decisions: [] }
  const { conversation, decisions } = parsed
  conversation.instruct(textContent(body.instructions, 'instructions'))
  if (typeof input === 'string') conversation.user(userContent(input, 'input'))
  else if (Array.isArray(input)) for (const [index, item] of input.entries()) addItem(parsed, item, `input[${index}]`)
  else refuse('input', 'input must be a string or a list of items.')
  const place = placeIn(body, parsed.reference)
  if (decisions.length === 0) conversation.end('input', options.isKept === true || place !== undefined)
  if (decisions.length > 0 && place === undefined) refuse('input', 'An approval refers to no request of this server.')
  const responseFormat = callerFormat(isJsonObject(body.text) ? body.text.format : undefined, 'text.format', (format) => format)
  return {
    model,
    isStreamed: stream === true,
    messages: conversation.messages,
    newest: conversation.newest,
    instructions: conversation.instructions,
    tools: callerTools(body.tools, (entry) => entry),
    settings: settingsIn(body, responseSettings),
    ...(responseFormat !== undefined && { responseFormat }),
    ...(place !== undefined && { place }),
    decisions,
    mayStore: store !== false,
    isBackground: background === true,
    echo: echoOf(body),
  }
}

function addItem(parsed: ParsedInput, item: JsonValue, param: string): void {
  if (!isJsonObject(item)) refuse(param, `${param} must be an object.`)
  const { conversation } = parsed
  switch (item.type ?? 'message') {
    case 'message':
      addSpoken(conversation, item, [], param)
      return
    case 'function_call': {
      const { call_id: id, name, arguments: given } = item
      if (!isId(id) || !isId(name)) refuse(param, `${param} must be a function call with a call_id and a name.`)
      conversation.assistant('', [{ type: 'toolCall', id, name, arguments: argumentsOf(given, `${param}.arguments`) }], param)
      return
    }
    case 'function_call_output': {
      const callId = textIn(item.call_id) ?? refuse(param, `${param} needs the call_id of its call.`)
      conversation.result(callId, resultContent(item.output, `${param}.output`), param)
      return
    }
    case 'reasoning':
      return
    case 'item_reference':
    case 'mcp_approval_request':
      parsed.reference = textIn(item.id) ?? refuse(param, `${param} needs an id.`)
      conversation.answered()
      return
    case 'mcp_approval_response':
      addDecision(parsed, item, param)
      return
    default:
      refuse(`${param}.type`, `${param}.type is not supported. Send messages, function calls with their outputs, or approval responses.`)
  }
}

/** Adds a decision. Anything except an explicit approval is a denial. */
function addDecision(parsed: ParsedInput, { approval_request_id: id, approve, reason }: JsonObject, param: string): void {
  const request = typeof id === 'string' ? approvalIn(id) : undefined
  if (typeof id !== 'string' || request === undefined) refuse(param, `${param}.approval_request_id refers to no request of this server.`)
  parsed.reference = id
  parsed.conversation.answered()
  parsed.decisions.push({ ...request, approved: approve === true, ...(typeof reason === 'string' && reason !== '' && { reason }) })
}

function placeIn({ conversation, previous_response_id: previous }: JsonObject, reference: string | undefined): ResponseRequest['place'] {
  const isNamed = conversation !== undefined && conversation !== null
  const isAfter = previous !== undefined && previous !== null
  if (isNamed && isAfter) refuse('previous_response_id', 'Both conversation and previous_response_id are set. Send only one.')
  if (isNamed) {
    const sessionId = isJsonObject(conversation) ? conversation.id : conversation
    return fits(sessionIdShape, sessionId)
      ? { sessionId }
      : refuse('conversation', 'conversation must be an id of at most 200 characters: A-Z a-z 0-9 . _ -')
  }
  const id = isAfter ? previous : reference
  if (id === undefined) return undefined
  const place = typeof id === 'string' ? placeOf(id) : undefined
  if (place !== undefined && fits(sessionIdShape, place.sessionId)) return place
  const shown = JSON.stringify(id).slice(0, 100)
  return isAfter
    ? refuse('previous_response_id', `Previous response with id ${shown} not found.`, 'previous_response_not_found')
    : refuse('input', `Item with id ${shown} not found. Items are not persisted when store is false. Send the complete items.`)
}

function echoOf(body: JsonObject): ResponseEcho {
  const { metadata, parallel_tool_calls: parallel, previous_response_id: previous, tools } = body
  return {
    instructions: body.instructions ?? noEcho.instructions,
    max_output_tokens: body.max_output_tokens ?? noEcho.max_output_tokens,
    metadata: isJsonObject(metadata) ? metadata : noEcho.metadata,
    parallel_tool_calls: parallel !== false,
    previous_response_id: textIn(previous) ?? noEcho.previous_response_id,
    reasoning: body.reasoning ?? noEcho.reasoning,
    temperature: body.temperature ?? noEcho.temperature,
    text: body.text ?? noEcho.text,
    tool_choice: body.tool_choice ?? noEcho.tool_choice,
    tools: Array.isArray(tools) ? tools : noEcho.tools,
    top_p: body.top_p ?? noEcho.top_p,
    truncation: noEcho.truncation,
  }
}
