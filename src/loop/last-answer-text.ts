import { type AgentMessage, textOf } from '../types/message.ts'

/** The text of the last answer of a model that has any; empty where there is none. */
export function lastAnswerText(messages: readonly AgentMessage[]): string {
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at]
    if (message?.role !== 'assistant') continue
    const said = textOf(message.content)
    if (said.trim() !== '') return said
  }
  return ''
}
