import { loopIdOf } from '../contract/message/message.ts'
import type { MessageView, NoteView, RunState } from './state.ts'

/**
 * `messages` without the failed responses of the loop `loopId` at their end. A loop that has failed responses and goes on has asked again: the next
 * response takes their place.
 */
export function withoutFailedAttempts(messages: readonly MessageView[], loopId: string | undefined): readonly MessageView[] {
  const kept = messages.findLastIndex((view) => loopId === undefined || !isFailedIn(view, loopId)) + 1
  return kept === messages.length ? messages : messages.slice(0, kept)
}

/** `state` when the next response of `loopId` has content. Notes of what is gone follow the message before it. */
export function withNextAttempt(state: RunState, loopId: string): RunState {
  const messages = withoutFailedAttempts(state.messages, loopId)
  if (messages === state.messages) return state
  const gone = new Set(state.messages.slice(messages.length).map(({ id }) => id))
  const before = messages.at(-1)?.id
  const notes = state.notes.map((note) => (gone.has(note.afterMessageId ?? '') ? placedAfter(note, before) : note))
  return { ...state, messages, notes }
}

function isFailedIn({ message }: MessageView, loopId: string): boolean {
  return message?.role === 'assistant' && message.stopReason === 'error' && loopIdOf(message) === loopId
}

function placedAfter({ afterMessageId: _gone, ...note }: NoteView, messageId: string | undefined): NoteView {
  return messageId === undefined ? note : { ...note, afterMessageId: messageId }
}
