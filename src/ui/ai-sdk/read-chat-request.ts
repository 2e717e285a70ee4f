import { noOutput } from '../../base/json/tool-output.ts'
import { isJsonObject, type JsonObject, jsonObjectsIn } from '../../contract/json.ts'
import type { Content } from '../../contract/message/content.ts'
import { isId } from '../../contract/message/identity.ts'
import type { UserMessage } from '../../contract/message/message.ts'
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

/** A parsed request of `useChat`. */
export interface ChatRequest {
  /** The chat `id`. */
  sessionId: string
  trigger: 'submit-message' | 'regenerate-message'
  /**
   * The user's message, under the client's id. With `regenerate-message`: the message to respond to again; a server that does not
   * have it treats it as new. Absent if decisions were sent.
   */
  message?: UserMessage & { id: string }
  /**
   * The message that the request is about: the edited user message (equal to `message.id`), the response to regenerate, or the
   * one with the decisions.
   */
  messageId?: string
  /** The client's version of the last response. May come with the next message. */
  answer?: { id: string; steps: number }
  /** Decisions about calls of the last response. Clients repeat a decision until its call has a result. */
  decisions: ToolDecision[]
  /**
   * Results of client tool calls in the last step of the last response. Clients repeat them, together with those of all other
   * calls: accept one only for a pending client tool call.
   */
  results: ToolOutcome[]
}

/**
 * Parses the body that `useChat` sends: JSON, parsed or as text.
 *
 * **Contract**
 * - Of the conversation it reads only two messages: the last prompt, and decisions and results of calls of the last response.
 *   Ignores text that a client puts into earlier messages or attributes to the assistant or a tool. Accepts results of client
 *   tools.
 * - A decision contains the hash of the shown arguments; `run.approve` refuses it for others.
 * - Files of any media type have their data, or an https URL for the provider; nothing is fetched here. An unreadable part is a
 *   `problem` with a message that names it.
 */
export function readChatRequest(body: unknown): Read<ChatRequest> {
  const { value, problem: wrong } = readBody(body)
  if (value === undefined) return problem(wrong)
  const { id, trigger = 'submit-message', messageId } = value
  if (!isId(id)) return problem('id must be the id of the chat.')
  if (trigger !== 'submit-message' && trigger !== 'regenerate-message')
    return problem('trigger must be "submit-message" or "regenerate-message".')
  if (messageId !== undefined && messageId !== null && !isId(messageId)) return problem('messageId must be the id of a message.')
  const messages = jsonObjectsIn(value.messages)
  const last = messages.at(-1)
  if (last === undefined) return problem('messages must be the messages of the chat.')
  const answer = messages.findLast(({ role }) => role === 'assistant')
  const isAgain = trigger === 'regenerate-message'
  const request: ChatRequest = {
    sessionId: id,
    trigger,
    ...(isId(messageId) && { messageId }),
    ...(isId(answer?.id) && { answer: { id: answer.id, steps: stepsOf(answer).length - 1 } }),
    decisions: answer === undefined || isAgain ? [] : decisionsOf(answer),
    results: answer === undefined || isAgain ? [] : resultsOf(answer),
  }
  if (last.role === 'user') {
    const message = readUserMessage(last)
    return message.value === undefined ? message : { value: { ...request, message: message.value } }
  }
  if (!isAgain && !hasCalls(last))
    return problem('The last message is neither from the user nor does it decide about a call, or say what came of one.')
  return { value: request }
}

/** The parts of a message by step; first those before any step. */
function stepsOf({ parts }: JsonObject): JsonObject[][] {
  const steps: JsonObject[][] = [[]]
  for (const part of jsonObjectsIn(parts)) {
    if (part.type === 'step-start') steps.push([])
    else steps.at(-1)?.push(part)
  }
  return steps
}

function hasCalls({ parts }: JsonObject): boolean {
  return jsonObjectsIn(parts).some(({ type }) => typeof type === 'string' && (type.startsWith('tool-') || type === 'dynamic-tool'))
}

function decisionsOf(message: JsonObject): ToolDecision[] {
  return jsonObjectsIn(message.parts).flatMap(({ state, approval }) => {
    if (state !== 'approval-responded' || !isJsonObject(approval)) return []
    const { id, approved, reason } = approval
    const request = typeof id === 'string' ? parseApprovalId(id) : undefined
    if (request === undefined || typeof approved !== 'boolean') return []
    return [{ ...request, approved, ...(typeof reason === 'string' && reason !== '' && { reason }) }]
  })
}

/** Returns client tool calls; others are `dynamic-tool`. Calls of an earlier step have their results. */
function resultsOf(message: JsonObject): ToolOutcome[] {
  return (stepsOf(message).at(-1) ?? []).flatMap(({ type, toolCallId, state, output, errorText, providerExecuted }): ToolOutcome[] => {
    if (typeof type !== 'string' || !type.startsWith('tool-') || !isId(toolCallId) || providerExecuted === true) return []
    // JSON leaves out the output of a tool that returned nothing.
    if (state === 'output-available') return [{ toolCallId, answer: { output: output === undefined ? noOutput : output } }]
    return state === 'output-error' && typeof errorText === 'string' ? [{ toolCallId, answer: { error: errorText } }] : []
  })
}

function readUserMessage({ id, parts }: JsonObject): Read<UserMessage & { id: string }> {
  if (!isId(id)) return problem('The last message has no id.')
  const content: Content[] = []
  for (const [index, part] of jsonObjectsIn(parts).entries()) {
    const block = readPart(part, `parts[${index}]`)
    if (block.problem !== undefined) return block
    if (block.value !== undefined) content.push(block.value)
  }
  if (content.length === 0) return problem('The message is empty.')
  return { value: { role: 'user', id, content, timestamp: Date.now() } }
}

/** Converts a part; undefined for parts that user messages do not have, such as data. */
function readPart({ type, text, url, mediaType, filename }: JsonObject, place: string): Read<Content | undefined> {
  if (type === 'text' && typeof text === 'string') return { value: text.trim() === '' ? undefined : { type: 'text', text } }
  if (type !== 'file') return { value: undefined }
  return readFile({ mimeType: textIn(mediaType), url: textIn(url), name: textIn(filename) }, place)
}
