import { indented } from '../../../context/view/stand-in.ts'
import { type AgentMessage, textOf } from '../../../contract/message/message.ts'

/**
 * The words of a conversation, one line `User: …`, `Assistant: …` or `Tool [name]: …` per message that has any. Further lines of a message are
 * indented, so that none of them passes for the beginning of another.
 */
export function transcript(messages: readonly AgentMessage[]): string {
  const lines: string[] = []
  for (const message of messages) {
    if (message.role === 'extension') continue
    const words = textOf(message.content)
    if (words.trim() !== '') lines.push(indented(`${speaker(message)}: ${words}`))
  }
  return lines.join('\n')
}

function speaker(message: Exclude<AgentMessage, { role: 'extension' }>): string {
  if (message.role === 'toolResult') return `Tool [${message.toolName}]`
  return message.role === 'user' ? 'User' : 'Assistant'
}

/** What was asked, and the conversation before it. */
export interface Question {
  query: string
  history: readonly AgentMessage[]
}

/**
 * What the branches were asked: the words of `prompt`, after all of `history`; without a prompt the last words of the user in `history`, after
 * what stands before them.
 */
export function questionOf(prompt: readonly AgentMessage[], history: readonly AgentMessage[]): Question {
  if (prompt.length > 0) return { query: userWords(prompt).join('\n'), history }
  const at = history.findLastIndex((message) => userWords([message]).length > 0)
  return at < 0 ? { query: '', history } : { query: userWords(history.slice(at, at + 1)).join('\n'), history: history.slice(0, at) }
}

function userWords(messages: readonly AgentMessage[]): string[] {
  return messages.flatMap((message) => (message.role === 'user' ? [textOf(message.content)] : [])).filter((words) => words.trim() !== '')
}
