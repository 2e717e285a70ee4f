import { checkOptions, json } from '../../src/base/check-options.ts'
import { type Content, type JsonValue, type UserMessage, userMessage } from '../../src/index.ts'
import type { Problem } from './problem.ts'

/** What `POST /runs` takes, checked: user messages, and what the caller wants to find in `agentStart`. */
export interface RunBody {
  messages: UserMessage[]
  metadata?: JsonValue
}

type Checked = { body: RunBody; problem?: never } | { body?: never; problem: Problem }

/**
 * Checks the JSON text of a request: `{ prompt: string | messages, metadata? }`.
 *
 * **Contract**: only user messages of text and images pass. What an assistant or a tool said is the server's to know; a client that sends it
 * could put words into the model's mouth.
 */
export function parseRunBody(text: string): Checked {
  const value = parseJson(text)
  if (!isObject(value)) return invalid('The body is not a JSON object. Send { "prompt": "…" }.')
  const tooDeep = faultOf(value)
  if (tooDeep !== undefined) return invalid(tooDeep)
  const messages = promptOf(value.prompt)
  if (typeof messages === 'string') return invalid(messages)
  return { body: value.metadata === undefined ? { messages } : { messages, metadata: value.metadata } }
}

function promptOf(prompt: JsonValue | undefined): UserMessage[] | string {
  if (typeof prompt === 'string') return prompt.trim() === '' ? 'The prompt is empty.' : [userMessage(prompt)]
  const entries = isObject(prompt) ? [prompt] : prompt
  if (!Array.isArray(entries) || entries.length === 0) return 'prompt must be a text or a list of user messages.'
  const messages: UserMessage[] = []
  for (const [index, entry] of entries.entries()) {
    if (isObject(entry) && entry.role === 'system') return `prompt[${index}].role is "system": the systemPrompt is for the server to set.`
    const content = userContent(entry)
    if (content === undefined) return `prompt[${index}] must be { "role": "user", "content": text or a list of text and image blocks }.`
    messages.push({ role: 'user', content, timestamp: Date.now() })
  }
  return messages
}

function userContent(entry: JsonValue): Content[] | undefined {
  if (!isObject(entry) || entry.role !== 'user') return undefined
  if (typeof entry.content === 'string') return entry.content.trim() === '' ? undefined : [{ type: 'text', text: entry.content }]
  if (!Array.isArray(entry.content) || entry.content.length === 0) return undefined
  const blocks = entry.content.map(userBlock)
  return blocks.every((block) => block !== undefined) ? blocks : undefined
}

/** A block with the known fields only: provider state and signatures are not for a client to set. */
function userBlock(block: JsonValue): Content | undefined {
  if (!isObject(block)) return undefined
  const { type, text, data, mimeType } = block
  if (type === 'text' && typeof text === 'string') return { type, text }
  if (type === 'image' && typeof data === 'string' && typeof mimeType === 'string') return { type, data, mimeType }
  return undefined
}

/** What of it is nested so deep that nobody could store or send it. */
function faultOf(value: JsonValue): string | undefined {
  try {
    checkOptions(value, json, 'body')
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: JsonValue | undefined): value is { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function invalid(detail: string): Checked {
  return { problem: { status: 400, code: 'invalidBody', detail } }
}
