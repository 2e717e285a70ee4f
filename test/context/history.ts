import type { Content } from '../../src/contract/message/content.ts'
import type { AgentMessage, LlmMessage, MessageEnvelope } from '../../src/contract/message/message.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'

type Extras = Omit<MessageEnvelope, 'id'>

/** What the user said; the id is also the text. */
export function user(id: string, extras: Extras = {}): LlmMessage {
  return { role: 'user', id, content: [{ type: 'text', text: id }], timestamp: 1, ...extras }
}

/** An answer with text and calls of these ids. */
export function answer(id: string, calls: readonly string[] = [], extras: Extras = {}): LlmMessage {
  const content: Content[] = [{ type: 'text', text: id }]
  for (const call of calls) content.push({ type: 'toolCall', id: call, name: 'look', arguments: {} })
  const stopReason = calls.length > 0 ? 'toolUse' : 'stop'
  return { role: 'assistant', id, content, stopReason, model: 'm', provider: 'p', usage: emptyUsage(), timestamp: 1, ...extras }
}

/** The result of a call, `size` characters long. */
export function result(id: string, toolCallId: string, extras: Extras = {}, size = 4): LlmMessage {
  const content: Content[] = [{ type: 'text', text: 'x'.repeat(size) }]
  return { role: 'toolResult', id, toolCallId, toolName: 'look', content, isError: false, timestamp: 1, ...extras }
}

/** Messages numbered as a run in revert mode does it, each following the one before; the first is a prompt, which has no number. */
export function numbered(...messages: readonly AgentMessage[]): AgentMessage[] {
  return messages.map((message, index) => {
    if (index === 0 || message.role === 'extension') return message
    return { ...message, nodeId: index - 1, ...(index > 1 && { parentId: index - 2 }) }
  })
}

export const idsOf = (messages: readonly AgentMessage[]): string[] => messages.map((message) => message.id)

/** The messages without those that are not sent. */
export const without = (messages: readonly AgentMessage[], gone: ReadonlySet<string>): AgentMessage[] =>
  messages.filter((message) => !gone.has(message.id))

/** The ids of calls that are sent without their result, and of results that are sent without their call. */
export function brokenPairs(messages: readonly AgentMessage[]): string[] {
  const open = new Set<string>()
  const broken: string[] = []
  for (const message of messages) {
    if (message.role === 'assistant') for (const block of message.content) if (block.type === 'toolCall') open.add(block.id)
    if (message.role === 'toolResult' && !open.delete(message.toolCallId)) broken.push(message.toolCallId)
  }
  return [...broken, ...open]
}
