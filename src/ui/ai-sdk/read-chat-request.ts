import { noOutput } from '../../base/json/tool-output.ts'
import { isJsonObject, type JsonObject, jsonObjectsIn, ownFieldIn } from '../../contract/json.ts'
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

/** A parsed request of a `useChat` client. */
export interface ChatRequest {
  /** The chat `id`. */
  sessionId: string
  trigger: 'submit-message' | 'regenerate-message'
  /**
   * The user message, with the client's id. With `regenerate-message`, the message to respond to again; a server without this message
   * treats it as new. Absent if the client sent decisions.
   */
  message?: UserMessage & { id: string }
  /**
   * Id of the message that the request refers to. This is the edited user message (equal to `message.id`), the response to regenerate, or
   * the response with the decisions.
   */
  messageId?: string
  /** The client's version of the last response. The client may send it together with the next message. */
  answer?: { id: string; steps: number }
  /** Decisions about calls in the last response. Clients repeat a decision until the call has a result. */
  decisions: ToolDecision[]
  /**
   * Results of client tool calls in the last step of the last response. Clients repeat these results, and also send the results of other
   * calls. Accept a result only for a pending client tool call.
   */
  results: ToolOutcome[]
}

/**
 * Parses the body that `useChat` sends: JSON, parsed or as text.
 *
 * **Contract**
 * - Reads only the last prompt, and the decisions and client tool results in the last response. Ignores text that a client adds to earlier
 *   messages or attributes to the assistant or a tool.
 * - A decision contains the hash of the displayed arguments; `run.approve` rejects the decision for other arguments. The body's `edits`
 *   maps approval ids to replacement arguments. Ids of other calls are ignored; other names return a `problem`. A changed part `input` has
 *   no effect, because clients may rewrite it.
 * - Files of any media type contain data or an https URL for the provider; this function fetches nothing. For an invalid part, returns a
 *   `problem` with its location.
 */
export function readChatRequest(body: unknown): Read<ChatRequest> {
  const { value, problem: wrong } = readBody(body)
  if (value === undefined) return problem(wrong)
  const { id, trigger = 'submit-message', messageId } = value
  if (!isId(id)) return problem('id must be the id of the chat.')
  if (trigger !== 'submit-message' && trigger !== 'regenerate-message')
    return problem('trigger must be "submit-message" or "regenerate-message".')
  if (messageId !== undefined && messageId !== null && !isId(messageId)) return problem('messageId must be the id of a message.')
  const { edits = {} } = value
  if (!isJsonObject(edits) || !Object.entries(edits).every(([of, args]) => parseApprovalId(of) !== undefined && isJsonObject(args)))
    return problem('edits must have the arguments of a call, a JSON object, under each approval id.')
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
    decisions: answer === undefined || isAgain ? [] : decisionsOf(answer, edits),
    results: answer === undefined || isAgain ? [] : resultsOf(answer),
  }
  if (last.role === 'user') {
    const message = readUserMessage(last)
    return message.value === undefined ? message : { value: { ...request, message: message.value } }
  }
  if (!isAgain && !hasCalls(last)) return problem('The last message is neither a user message nor an approval decision or a tool result.')
  return { value: request }
}

/** Returns the parts of a message by step, beginning with the parts before the first step. */
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

function decisionsOf(message: JsonObject, edits: JsonObject): ToolDecision[] {
  return jsonObjectsIn(message.parts).flatMap(({ state, approval }) => {
    if (state !== 'approval-responded' || !isJsonObject(approval)) return []
    const { id, approved, reason } = approval
    const request = typeof id === 'string' ? parseApprovalId(id) : undefined
    if (request === undefined || typeof approved !== 'boolean') return []
    const edited = approved ? ownFieldIn(edits, String(id)) : undefined
    return [
      {
        ...request,
        approved,
        ...(typeof reason === 'string' && reason !== '' && { reason }),
        ...(isJsonObject(edited) && { arguments: edited }),
      },
    ]
  })
}

/**
 * Returns the results of client tool calls in the last step. Other calls have the type `dynamic-tool`, and calls in earlier steps already
 * have results.
 */
function resultsOf(message: JsonObject): ToolOutcome[] {
  return (stepsOf(message).at(-1) ?? []).flatMap(({ type, toolCallId, state, output, errorText, providerExecuted }): ToolOutcome[] => {
    if (typeof type !== 'string' || !type.startsWith('tool-') || !isId(toolCallId) || providerExecuted === true) return []
    // JSON omits the output of a tool that returned nothing.
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

/** Converts a part; the value is `undefined` for parts that are not user content, such as data. */
function readPart({ type, text, url, mediaType, filename }: JsonObject, place: string): Read<Content | undefined> {
  if (type === 'text' && typeof text === 'string') return { value: text.trim() === '' ? undefined : { type: 'text', text } }
  if (type !== 'file') return { value: undefined }
  return readFile({ mimeType: textIn(mediaType), url: textIn(url), name: textIn(filename) }, place)
}
