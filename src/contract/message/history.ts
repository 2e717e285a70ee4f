import { ConfigError } from '../errors.ts'
import { fieldIn, type JsonValue } from '../json.ts'
import { checkOptions, parseStored, readGiven, readStored } from '../shape/read.ts'
import { listOf } from '../shape/shape.ts'
import { type Content, content } from './content.ts'
import { type AgentMessage, type Message, type MessageInput, messageInput, type PromptInput, withId } from './message.ts'

/**
 * Converts caller input to history entries: text becomes a user message, string `content` becomes blocks, and defaults are applied.
 * Complete messages are returned as the same object.
 *
 * Throws `ConfigError` `invalidMessage` with the path of the invalid part, such as `prompt[1].content[0].type`. `name` is the first part of
 * the path.
 *
 * Source: docs/concepts/messages.md
 */
export function toHistory(input: PromptInput, name: string): AgentMessage[] {
  if (typeof input === 'string') return [toEntry({ role: 'user', content: input }, name)]
  return isList(input) ? Array.from(input, (entry, at) => toEntry(entry, `${name}[${at}]`)) : [toEntry(input, name)]
}

/** {@link toHistory} for one message. */
export function toEntry(input: MessageInput, name: string): AgentMessage {
  return withId(toMessage(input, name))
}

/** {@link toEntry} without assigning an id. */
export function toMessage(input: MessageInput, name: string): Message | AgentMessage {
  const role: unknown = fieldIn(input, 'role')
  if (role === 'system' || role === 'developer') {
    throw new ConfigError(
      'invalidMessage',
      `${name}.role is "${role}". System messages are not part of the history. Pass the text as systemPrompt to new Agent or agent.configure.`,
    )
  }
  const type: unknown = role === undefined ? Object(input).type : undefined
  if (typeof type === 'string') {
    throw new ConfigError(
      'invalidMessage',
      `${name} is a block of type ${JSON.stringify(type)}, not a message. Wrap it in a message: { role: 'user', content: [ … ] }.`,
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

/** Serializes a history to JSON in the native format (camelCase). `parseMessages` reads it. */
export function serializeMessages(history: readonly AgentMessage[]): string {
  return JSON.stringify(history)
}

/**
 * Parses a history in the native format.
 *
 * **Contract**
 * - Throws `SessionError` `invalidMessages` with the path and the expected type, such as `messages[3].content[0].type: expected
 *   text|image|file|thinking|toolCall|serviceTool|opaque, got "foo"`.
 * - Assigns ids to messages without one. Keeps unknown keys, so older versions preserve data from newer ones.
 * - Checks the structure only. The request encoder ensures that every call has a result.
 * - For messages from the Rust implementation, use `fromSpecJson` from `phi-core/rust`.
 *
 * Source: docs/concepts/messages.md
 */
export function parseMessages(text: string): AgentMessage[] {
  return checkHistory(parseStored(text, 'messages'), 'messages')
}

/** {@link parseMessages} for a parsed value. `path` is its location. */
function checkHistory(value: unknown, path: string): AgentMessage[] {
  return readStored(messages, value, path).map(withId)
}

/** Fields that clients may set. Excludes `providerState` and `fileId`, because a file id may belong to another user. */
const clientFields: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['text', ['type', 'text']],
  ['image', ['type', 'mimeType', 'data', 'url']],
  ['file', ['type', 'mimeType', 'data', 'url', 'name', 'context', 'citations']],
])

/**
 * Validates a user block from a client: text, image or file. Drops fields that clients may not set. Throws `ConfigError` `invalidMessage`
 * with `path` for invalid base64, a wrong MIME type, or a URL that is not https.
 */
export function clientBlock(sent: JsonValue, path: string): Content {
  const fields = clientFields.get(Object(sent).type)
  if (fields === undefined) throw new ConfigError('invalidMessage', `${path} is not a text, image or file block.`)
  const block = Object.fromEntries(Object.entries(Object(sent)).filter(([name]) => fields.includes(name)))
  checkOptions(block, content, path, 'invalidMessage')
  return readStored(content, block, path)
}
