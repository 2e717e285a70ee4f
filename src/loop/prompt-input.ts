import { ConfigError } from '../types/errors.ts'
import { type AgentMessage, type Message, type PromptInput, userMessage, withId } from '../types/message.ts'
import type { MessageSupplier } from './loop-config.ts'

/**
 * What a caller handed in, as history entries with ids.
 *
 * Throws `ConfigError` `emptyPrompt` for no messages, blank text or a user message without content.
 */
export function toMessages(input: PromptInput): AgentMessage[] {
  const messages = listOf(input).map(withId)
  if (messages.length === 0) throw new ConfigError('emptyPrompt', 'The prompt has no messages. Pass text or at least one message.')
  for (const message of messages) {
    if (message.role !== 'user') continue
    const isBlank = message.content.every((block) => block.type === 'text' && block.text.trim() === '')
    if (isBlank) throw new ConfigError('emptyPrompt', 'The prompt is empty. Pass some text or an image.')
  }
  return messages
}

function listOf(input: PromptInput): readonly (Message | AgentMessage)[] {
  if (typeof input === 'string') return [userMessage(input)]
  return isList(input) ? input : [input]
}

// Array.isArray does not narrow readonly arrays.
function isList(input: Exclude<PromptInput, string>): input is readonly (Message | AgentMessage)[] {
  return Array.isArray(input)
}

/** Hands over a prompt, once. */
export function promptSupplier(messages: AgentMessage[]): MessageSupplier {
  let rest = messages
  return {
    waiting: () => rest.length > 0,
    peek: () => rest,
    take: () => {
      const taken = rest
      rest = []
      return taken
    },
  }
}

/** Where there is nothing to begin with. */
export const noInputs: MessageSupplier = promptSupplier([])
