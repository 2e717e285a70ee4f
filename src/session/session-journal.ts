import type { Journal } from '../types/journal.ts'
import type { RecordedConversation, SessionStore } from '../types/session-store.ts'
import { LiveRecording } from './live-recording.ts'

/**
 * A journal that records loops of `context` in its session in `store`: for those who run `agentLoop` themselves. An agent does this by itself
 * with its option `session`.
 *
 * **Contract**: see `LiveRecording`. `close` gives the right to write back.
 */
export function sessionJournal(store: SessionStore, context: RecordedConversation): Journal & { close(): Promise<void> } {
  const recording = new LiveRecording(store)
  return { append: (record) => recording.append(record, context), close: () => recording.close() }
}
