import type { Content } from '../../contract/message/content.ts'
import type { UserMessage } from '../../contract/message/message.ts'
import { parseApprovalId, type ToolDecision } from '../shared/approval-id.ts'
import { type ClientObject, isId, isObject, objectsOf, problem, type Read, readBody, readFile, textIn } from '../shared/client-input.ts'

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
 * - Pictures, sounds, videos, documents and `binary` parts come with their data, or by an https address for the service; nothing is fetched here.
 *   What cannot be read is a `problem` that names the part, for a person to read.
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
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content)
  for (const [index, part] of parts.entries()) {
    const block = readPart(part, `content[${index}]`)
    if (block.problem !== undefined) return block
    if (block.value !== undefined) blocks.push(block.value)
  }
  if (blocks.length === 0) return problem('The message is empty.')
  return { value: { role: 'user', id, content: blocks, timestamp: Date.now() } }
}

function readPart(part: ClientObject, place: string): Read<Content | undefined> {
  const { type, text, source, metadata } = part
  if (type === 'text' && typeof text === 'string') return { value: text.trim() === '' ? undefined : { type: 'text', text } }
  if (type === 'binary') {
    const { mimeType, data, url, filename } = part
    return readFile({ mimeType: textIn(mimeType), data: textIn(data), url: textIn(url), name: textIn(filename) }, place)
  }
  if (!isObject(source)) return problem(`${place} is neither text nor media with its source.`)
  const { type: kind, value, mimeType } = source
  const given = kind === 'data' ? { data: textIn(value) } : kind === 'url' ? { url: textIn(value) } : {}
  const name = isObject(metadata) ? textIn(metadata.filename) : undefined
  return readFile({ mimeType: textIn(mimeType), ...given, name }, place)
}
