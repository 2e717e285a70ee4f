import { type AgentMessage, loopIdOf } from '../contract/message/message.ts'
import type { MessageView, RunState } from './state.ts'

/**
 * `messages` without the failed responses of the loop `loopId` at their end. A loop that has failed responses and goes on has asked again: the next
 * response takes their place.
 */
export function withoutFailedAttempts(messages: readonly MessageView[], loopId: string | undefined): readonly MessageView[] {
  const kept = messages.findLastIndex((view) => loopId === undefined || !isFailedIn(view, loopId)) + 1
  return kept === messages.length ? messages : messages.slice(0, kept)
}

/** Whether `message` is a response that can take the place of a failed one. */
export const hasContent = (message: AgentMessage): boolean => message.role === 'assistant' && message.content.length > 0

/** `state` when the response `messageId` of `loopId` has content. Notes of what is gone follow the message before it, or the response if there is none. */
export function withNextAttempt(state: RunState, { loopId, messageId }: { loopId: string; messageId: string }): RunState {
  const messages = withoutFailedAttempts(state.messages, loopId)
  if (messages === state.messages) return state
  const gone = state.messages.slice(messages.length).map(({ id }) => id)
  const afterMessageId = messages.at(-1)?.id ?? messageId
  const notes = state.notes.map((note) => (gone.includes(note.afterMessageId ?? '') ? { ...note, afterMessageId } : note))
  return { ...state, messages, notes }
}

function isFailedIn({ message }: MessageView, loopId: string): boolean {
  return message?.role === 'assistant' && message.stopReason === 'error' && loopIdOf(message) === loopId
}
