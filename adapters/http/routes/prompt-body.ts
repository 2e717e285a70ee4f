import type { Context } from 'hono'
import { errorText } from '../../../src/contract/errors.ts'
import { isJsonObject } from '../../../src/contract/json.ts'
import { clientBlock } from '../../../src/contract/message/history.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { json } from '../../../src/contract/shape/shape.ts'
import { type Content, type JsonObject, type JsonValue, type UserMessage, userMessage } from '../../../src/index.ts'
import { refuse } from '../access/problem.ts'
import type { ClientAsk, ClientSettingName } from '../live/commands/client-ask.ts'
import { askedIn } from './client-settings.ts'

/**
 * Returns a request's idempotency key. Rejects an invalid key with 400 `invalidBody`: keys consist of 8 to 100 letters, digits, `-` and
 * `_`.
 */
export function keyOf(c: Context): string | undefined {
  const key = c.req.header('idempotency-key')
  if (key !== undefined && !/^[\w-]{8,100}$/.test(key))
    refuse(400, 'invalidBody', 'Idempotency-Key must be 8 to 100 letters, digits, - or _, such as a UUID.')
  return key
}

/** Body keys of a run: options and the start point. */
export const runKeys = ['model', 'thinking', 'tools', 'clientTools', 'settings', 'metadata', 'from'] as const

/** Body keys of a run with a prompt. */
export const promptKeys = ['prompt', ...runKeys] as const

/** A client's user messages and options. */
export interface PromptBody {
  messages: UserMessage[]
  ask: ClientAsk
}

/**
 * Parses `{ prompt: string | messages, metadata?, settings?, model?, thinking?, tools?, clientTools? }`. Rejects with 400 `invalidBody`,
 * and with 403 for a setting that is not in `allowed`.
 *
 * **Contract**
 * - Accepts only user messages with text, images and files. Otherwise, a client could forge assistant or tool messages.
 */
export function promptOf(body: JsonObject, allowed: readonly ClientSettingName[]): PromptBody {
  assertShallow(body)
  const { prompt, metadata } = body
  const messages = messagesOf(prompt)
  return { messages, ask: { ...askedIn(body, allowed), ...(metadata !== undefined && { metadata }) } }
}

/** Maximum messages per prompt. Each message causes events and a record, and a body can contain hundreds of thousands. */
const maxMessages = 1000

function messagesOf(prompt: JsonValue | undefined): UserMessage[] {
  if (typeof prompt === 'string') return [userMessage(prompt.trim() === '' ? invalid('The prompt is empty.') : prompt)]
  const entries = isJsonObject(prompt) ? [prompt] : prompt
  if (!Array.isArray(entries) || entries.length === 0) invalid('prompt must be a string or a list of user messages.')
  if (entries.length > maxMessages) invalid(`prompt has ${entries.length} messages; ${maxMessages} may be said at once.`)
  return entries.map((entry, index) => userMessageOf(entry, `prompt[${index}]`))
}

/** Parses a user message. `place` is the message's location, for error messages. */
function userMessageOf(entry: JsonValue, place: string): UserMessage {
  if (isJsonObject(entry) && entry.role === 'system') invalid(`${place}.role is "system": only the server sets the system prompt.`)
  const content = userContent(entry, `${place}.content`)
  if (content === undefined) invalid(`${place} must be { "role": "user", "content": string or a list of text, image and file blocks }.`)
  return { role: 'user', content, timestamp: Date.now() }
}

function userContent(entry: JsonValue, place: string): Content[] | undefined {
  if (!isJsonObject(entry) || entry.role !== 'user') return undefined
  if (typeof entry.content === 'string') return entry.content.trim() === '' ? undefined : [{ type: 'text', text: entry.content }]
  if (!Array.isArray(entry.content) || entry.content.length === 0) return undefined
  return entry.content.map((block, index) => userBlock(block, `${place}[${index}]`))
}

function userBlock(block: JsonValue, place: string): Content {
  try {
    return clientBlock(block, place)
  } catch (error) {
    invalid(errorText(error))
  }
}

/** Rejects nesting too deep to be stored or sent. */
function assertShallow(body: JsonObject): void {
  try {
    checkOptions(body, json, 'body')
  } catch (error) {
    invalid(errorText(error))
  }
}

function invalid(detail: string): never {
  refuse(400, 'invalidBody', detail)
}
