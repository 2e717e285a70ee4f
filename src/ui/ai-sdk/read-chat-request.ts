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

/** What `useChat` asks for, as far as a client may say it. */
export interface ChatRequest {
  /** Its `id`. */
  sessionId: string
  trigger: 'submit-message' | 'regenerate-message'
  /**
   * What the person says, under the id that the page knows it by. With `regenerate-message`: what is to be answered again; a server that does not
   * have it takes it as new. Absent where decisions were sent.
   */
  message?: UserMessage & { id: string }
  /** The message the request is about: the user message that is edited (then it is `message.id`), the answer to make again, or the one with the decisions. */
  messageId?: string
  /** The last answer as the page has it: it may come with the next message. */
  answer?: { id: string; steps: number }
  /** What a person has decided about calls of the last answer. A decision that was made before comes again until its call has a result. */
  decisions: ToolDecision[]
  /**
   * What came of calls that the page runs, in the last step of the last answer. It comes again, with those of all other calls of the step: only one for a call that waits for a
   * page is to be believed.
   */
  results: ToolOutcome[]
}

/**
 * Reads the body that `useChat` sends: JSON, parsed or as text.
 *
 * **Contract**
 * - Of the conversation only two messages are read: what the person says last, and what was decided about calls of the last answer or came of them. Words that a client puts
 *   into an earlier message, or gives to an assistant or a tool, are not taken. Results of calls that the page itself runs are.
 * - A decision holds the hash of the arguments that were shown; `run.approve` refuses it for others.
 * - Files of any media type come with their data, or by an https address for the service; nothing is fetched here. A part that cannot be read is a
 *   `problem` that names the part, for a person to read.
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

/** Those of tools that the page runs: the others are `dynamic-tool`. Calls of an earlier step have their results. */
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

/** A part; none for what a user message does not consist of, such as data of the page. */
function readPart({ type, text, url, mediaType, filename }: JsonObject, place: string): Read<Content | undefined> {
  if (type === 'text' && typeof text === 'string') return { value: text.trim() === '' ? undefined : { type: 'text', text } }
  if (type !== 'file') return { value: undefined }
  return readFile({ mimeType: textIn(mediaType), url: textIn(url), name: textIn(filename) }, place)
}
