import { ConfigError } from '../errors.ts'
import { fieldIn, type JsonValue } from '../json.ts'
import { checkOptions, parseStored, readGiven, readStored } from '../shape/read.ts'
import { listOf } from '../shape/shape.ts'
import { type Content, content } from './content.ts'
import { type AgentMessage, type Message, type MessageInput, messageInput, type PromptInput, withId } from './message.ts'

/**
 * What a caller hands in, as entries of a history: text is a user message, `content` may be text, and what may be left out is filled in. What is
 * complete already is the same object.
 *
 * Throws `ConfigError` `invalidMessage` with the path of what is no message, such as `prompt[1].content[0].type`; `name` is where it begins.
 *
 * Source: docs/concepts/messages.md
 */
export function toHistory(input: PromptInput, name: string): AgentMessage[] {
  if (typeof input === 'string') return [toEntry({ role: 'user', content: input }, name)]
  return isList(input) ? Array.from(input, (entry, at) => toEntry(entry, `${name}[${at}]`)) : [toEntry(input, name)]
}

/** As {@link toHistory}, for one message. */
export function toEntry(input: MessageInput, name: string): AgentMessage {
  return withId(toMessage(input, name))
}

/** As {@link toEntry}, without giving a message an id. */
export function toMessage(input: MessageInput, name: string): Message | AgentMessage {
  const role: unknown = fieldIn(input, 'role')
  if (role === 'system' || role === 'developer') {
    throw new ConfigError(
      'invalidMessage',
      `${name}.role is "${role}". A system message is no message here: pass its text as systemPrompt, to new Agent or agent.configure.`,
    )
  }
  const type: unknown = role === undefined ? Object(input).type : undefined
  if (typeof type === 'string') {
    throw new ConfigError(
      'invalidMessage',
      `${name} is a block of type ${JSON.stringify(type)}, not a message. Put blocks into one: { role: 'user', content: [ … ] }.`,
    )
  }
  const message = readGiven(messageInput, input, name, 'invalidMessage')
  return message.role === 'extension' ? withId(message) : message
}

// Array.isArray does not narrow readonly arrays.
function isList(input: Exclude<PromptInput, string>): input is readonly MessageInput[] {
  return Array.isArray(input)
}

const messages = listOf(messageInput)

/** A history as JSON text in the native format (camelCase). `parseMessages` reads it back. */
export function serializeMessages(history: readonly AgentMessage[]): string {
  return JSON.stringify(history)
}

/**
 * Reads a history in the native format.
 *
 * **Contract**
 * - Throws `SessionError` `invalidMessages` that names the path and what was wrong there, such as `messages[3].content[0].type: expected
 *   text|image|file|thinking|toolCall|serviceTool|opaque, got "foo"`.
 * - A message without an id gets a new one. Unknown keys are kept, so that an older version can carry what a newer one wrote.
 * - The structure is checked, not the meaning: that every call has its result is the business of the request encoder.
 * - For what the Rust implementation wrote, use `fromSpecJson` of `phi-core/rust`.
 *
 * Source: docs/concepts/messages.md
 */
export function parseMessages(text: string): AgentMessage[] {
  return checkHistory(parseStored(text, 'messages'), 'messages')
}

/** As {@link parseMessages}, for a value that has been read already; `path` says where it was found. */
function checkHistory(value: unknown, path: string): AgentMessage[] {
  return readStored(messages, value, path).map(withId)
}

/** What a client may say of its blocks. State of a service is not for it to set, nor is `fileId`: the file could be somebody else's. */
const clientFields: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['text', ['type', 'text']],
  ['image', ['type', 'mimeType', 'data', 'url']],
  ['file', ['type', 'mimeType', 'data', 'url', 'name', 'context', 'citations']],
])

/**
 * A block of a user that a client sent: text, a picture or a file. Throws `ConfigError` `invalidMessage`, which names the part at `path`, for anything
 * else: no base64, bytes of another type, an address that is not https. Fields that are not for a client to set are left out.
 */
export function clientBlock(sent: JsonValue, path: string): Content {
  const fields = clientFields.get(Object(sent).type)
  if (fields === undefined) throw new ConfigError('invalidMessage', `${path} is no block of text, image or file.`)
  const block = Object.fromEntries(Object.entries(Object(sent)).filter(([name]) => fields.includes(name)))
  checkOptions(block, content, path, 'invalidMessage')
  return readStored(content, block, path)
}
