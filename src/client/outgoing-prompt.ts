import { ConfigError } from '../contract/errors.ts'
import type { JsonObject, JsonValue } from '../contract/json.ts'
import { mediaFields } from '../contract/message/block-words.ts'
import { type Content, isMedia } from '../contract/message/content.ts'
import { toHistory } from '../contract/message/history.ts'
import { newId } from '../contract/message/identity.ts'
import type { AgentMessage, PromptInput, UserMessage } from '../contract/message/message.ts'

/** User input as sent to the server and as added to the history. */
export interface OutgoingPrompt {
  /** Id of the last message, which serves as idempotency key. */
  key: string
  messages: AgentMessage[]
  last: AgentMessage
  prompt: JsonValue
}

/** Converts input. Throws `ConfigError`: `emptyPrompt` if empty, `invalidMessage` for messages that are not user messages. */
export function outgoingPrompt(input: PromptInput): OutgoingPrompt {
  const given = toHistory(input, 'prompt')
  const key = newId()
  const messages = given.map((message, at) => (at === given.length - 1 ? { ...message, id: key } : message))
  const users = messages.filter((message) => message.role === 'user')
  if (users.length < messages.length) {
    const roles = messages.map(({ role }) => role).join(', ')
    throw new ConfigError('invalidMessage', `A remote session accepts only user messages. The roles of these messages are: ${roles}.`)
  }
  const last = users.at(-1)
  if (last === undefined || users.some(isBlank)) throw new ConfigError('emptyPrompt', 'The prompt is empty. Pass text or an image.')
  return {
    key,
    messages,
    last,
    prompt: users.map(({ role, content }) => ({ role, content: content.map(sent) })),
  }
}

function isBlank({ content }: UserMessage): boolean {
  return content.every((block) => block.type === 'text' && block.text.trim() === '')
}

/** The fields that a server accepts in a user message. */
function sent(block: Content): JsonObject {
  if (block.type === 'text') return { type: 'text', text: block.text }
  if (isMedia(block)) return mediaFields(block)
  throw new ConfigError('invalidMessage', `A user message can contain text, images and files. This one has a ${block.type} block.`)
}
