import type { AgentMessage } from '../types/message.ts'

/**
 * For each position of `messages`, where its group begins: a tool result belongs to the latest answer before it that made its call, everything
 * else is a group of its own. A result without its call is one too.
 */
export function groupStarts(messages: readonly AgentMessage[]): number[] {
  // Services count their calls anew in each answer: the latest call with an id is the one that a result answers.
  const callers = new Map<string, number>()
  return messages.map((message, index) => {
    if (message.role === 'assistant') {
      for (const block of message.content) if (block.type === 'toolCall') callers.set(block.id, index)
    }
    return message.role === 'toolResult' ? (callers.get(message.toolCallId) ?? index) : index
  })
}
