import { isJsonObject, type JsonObject, type JsonValue } from '../../../contract/json.ts'
import type { ToolCallContent } from '../../../contract/message/content.ts'
import { isId } from '../../../contract/message/identity.ts'
import { readBody, textIn } from '../../shared/client-input.ts'
import { argumentsOf, resultContent } from '../shared/caller-content.ts'
import { type ReadRequest, readingOf, refuse } from '../shared/caller-fault.ts'
import { addSpoken, CallerConversation, type CallerRequest, type ReadOptions } from '../shared/caller-request.ts'
import { chatSettings, refuseAsked, settingsIn, type UnsupportedFields } from '../shared/caller-settings.ts'
import { callerFormat, callerTools } from '../shared/caller-tools.ts'

/** A parsed `POST /v1/chat/completions`. */
export interface CompletionRequest extends CallerRequest {
  /** Whether the last chunk of the stream contains the usage. */
  includeUsage: boolean
}

const unsupported: UnsupportedFields = {
  n: { defaults: [1], why: 'An agent returns one response. Omit it.' },
  logprobs: { defaults: [false], why: 'An agent may call several models. Omit it.' },
  top_logprobs: { defaults: [0], why: 'An agent may call several models. Omit it.' },
  logit_bias: { defaults: [{}], why: 'Leave it out.' },
  audio: { why: 'Agents respond with text.' },
  modalities: { defaults: [['text']], why: 'Agents respond with text.' },
  prediction: { why: 'Leave it out.' },
  functions: { defaults: [[]], why: "Use 'tools' instead." },
  function_call: { defaults: ['auto', 'none'], why: "Use 'tool_choice' instead." },
  web_search_options: { why: 'The agent has its own tools.' },
}

/**
 * Parses the body of a chat completion request: JSON, parsed or as text.
 *
 * **Contract**
 * - Accepts fields with OpenAI's defaults or `null`. Rejects unsupported fields by name. Ignores `user`, `metadata`, `store` and OpenAI's
 *   cache fields.
 * - Converts system and developer messages to user messages or `instructions`, depending on `callerInstructions`.
 * - Rejects calls without a result, and results without a call.
 *
 * Source: docs/guides/openai-endpoint.md
 */
export function readCompletionRequest(body: unknown, options: ReadOptions = {}): ReadRequest<CompletionRequest> {
  const { value, problem } = readBody(body)
  if (value === undefined) return { fault: { message: problem } }
  return readingOf(() => completionRequest(value, options))
}

function completionRequest(body: JsonObject, options: ReadOptions): CompletionRequest {
  const { model, messages, stream = false, stream_options: streamOptions } = body
  if (!isId(model)) refuse('model', 'model must be the name of an agent: GET /v1/models lists them.')
  if (typeof stream !== 'boolean' && stream !== null) refuse('stream', 'stream must be true or false.')
  refuseAsked(body, unsupported)
  const conversation = new CallerConversation(options)
  if (!Array.isArray(messages) || messages.length === 0) refuse('messages', 'messages must be a list of at least one message.')
  for (const [index, message] of messages.entries()) addMessage(conversation, message, `messages[${index}]`)
  conversation.end('messages', options.isKept === true)
  const responseFormat = callerFormat(body.response_format, 'response_format', (format) => format.json_schema)
  return {
    model,
    isStreamed: stream === true,
    includeUsage: isJsonObject(streamOptions) && streamOptions.include_usage === true,
    messages: conversation.messages,
    newest: conversation.newest,
    instructions: conversation.instructions,
    tools: callerTools(body.tools, (entry) => entry.function),
    settings: settingsIn(body, chatSettings),
    ...(responseFormat !== undefined && { responseFormat }),
  }
}

function addMessage(conversation: CallerConversation, message: JsonValue, param: string): void {
  if (!isJsonObject(message)) refuse(param, `${param} must be an object with a role.`)
  const { role, content } = message
  if (role === 'tool') {
    const callId = textIn(message.tool_call_id) ?? refuse(param, `${param} needs the tool_call_id of its call.`)
    conversation.result(callId, resultContent(content, `${param}.content`), param)
  } else addSpoken(conversation, message, role === 'assistant' ? callsOf(message, param) : [], param)
}

function callsOf({ tool_calls: given, function_call: old }: JsonObject, param: string): ToolCallContent[] {
  if (old !== undefined && old !== null) refuse(`${param}.function_call`, `${param}.function_call is not supported. Use tool_calls.`)
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) return refuse(`${param}.tool_calls`, `${param}.tool_calls must be a list.`)
  return given.map((call, index) => {
    const place = `${param}.tool_calls[${index}]`
    const { name, arguments: given }: JsonObject = isJsonObject(call) && isJsonObject(call.function) ? call.function : {}
    const id = isJsonObject(call) ? call.id : undefined
    if (!isId(id) || !isId(name)) return refuse(place, `${place} must be a function call with an id and a name.`)
    return { type: 'toolCall', id, name, arguments: argumentsOf(given, `${place}.function.arguments`) }
  })
}
