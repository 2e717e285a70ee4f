import type { Content } from '../../contract/message/content.ts'
import type { UserMessage } from '../../contract/message/message.ts'
import { parseApprovalId, type ToolDecision } from '../shared/approval-id.ts'
import {
  type ClientObject,
  isId,
  isObject,
  objectsOf,
  problem,
  type Read,
  readBody,
  readDataUrl,
  readFile,
} from '../shared/client-input.ts'

/** What an AG-UI client asks for, as far as a client may say it. With neither message nor decisions: to be told of the run that is on, or was last. */
export interface RunInput {
  threadId: string
  runId: string
  /** What the person says, under the client's own id. It comes again with every run: a server that has the id already takes it for said. */
  message?: UserMessage & { id: string }
  /** What a person has decided about the interrupts of the run before. Whatever is no clear yes is a no. */
  decisions: ToolDecision[]
}

/**
 * Reads a `RunAgentInput`: JSON, parsed or as text.
 *
 * **Contract**
 * - Of the conversation only the last message is read, and only if the user said it. Tools, state and context of the client are not taken.
 * - A decision holds the hash of the arguments that were shown; `run.approve` refuses it for others.
 * - Media are images, or documents of text, with their data; addresses are not fetched. What cannot be read is a `problem`, for a person to read.
 */
export function readRunInput(body: unknown): Read<RunInput> {
  const { value, problem: wrong } = readBody(body)
  if (value === undefined) return problem(wrong)
  const { threadId, runId } = value
  if (!isId(threadId) || !isId(runId)) return problem('threadId and runId must be the ids of the conversation and of the run.')
  const decisions: ToolDecision[] = []
  for (const entry of objectsOf(value.resume)) {
    const decision = readDecision(entry)
    if (decision.value === undefined) return decision
    decisions.push(decision.value)
  }
  const last = objectsOf(value.messages).at(-1)
  if (last?.role !== 'user') return { value: { threadId, runId, decisions } }
  const message = readUserMessage(last)
  return message.value === undefined ? message : { value: { threadId, runId, message: message.value, decisions } }
}

function readDecision({ interruptId, status, payload }: ClientObject): Read<ToolDecision> {
  const request = typeof interruptId === 'string' ? parseApprovalId(interruptId) : undefined
  if (request === undefined) return problem('resume holds an interruptId that is none of this server.')
  const { approved, reason }: ClientObject = isObject(payload) ? payload : { approved: payload ?? false }
  const isYes = status === 'resolved' && approved === true
  return { value: { ...request, approved: isYes, ...(typeof reason === 'string' && reason !== '' && { reason }) } }
}

function readUserMessage({ id, content }: ClientObject): Read<UserMessage & { id: string }> {
  if (!isId(id)) return problem('The last message has no id.')
  const blocks: Content[] = []
  for (const part of typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content)) {
    const block = readPart(part)
    if (block.problem !== undefined) return block
    if (block.value !== undefined) blocks.push(block.value)
  }
  if (blocks.length === 0) return problem('The message is empty.')
  return { value: { role: 'user', id, content: blocks, timestamp: Date.now() } }
}

function readPart({ type, text, source }: ClientObject): Read<Content | undefined> {
  if (type === 'text' && typeof text === 'string') return { value: text.trim() === '' ? undefined : { type: 'text', text } }
  if (!isObject(source)) return problem('A part of the message is neither text nor an image or a document with its source.')
  const { type: kind, value, mimeType } = source
  const file = typeof value !== 'string' ? undefined : kind === 'data' ? { mimeType: '', data: value } : readDataUrl(value)
  if (file === undefined) return problem('An image or a document must come with its data. Addresses and handles are not fetched.')
  return readFile(typeof mimeType === 'string' ? mimeType : file.mimeType, file.data, undefined)
}
