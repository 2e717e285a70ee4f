// Conversation storage in this browser. Loaded after the first output.

import { indexedDbSessionStore } from '../../../../adapters/browser/index.ts'
import { memorySessionStore, resumeAgent, type SessionStore } from '../../../../src/index.ts'
import { type EventStore, withEvents } from '../../../../src/session.ts'
import { wordsOf } from '../notices/words.ts'
import type { OnOtherTab } from './chat-port.ts'

/** Stored conversations: in this browser, or in memory if the browser stores nothing. */
export interface Kept {
  /** Includes all events, so that every view survives a reload. */
  store: SessionStore & EventStore
  /** Ids of the conversations that tabs write to. */
  openIds(): Promise<string[]>
  resume: typeof resumeAgent
  /** The reason why conversations are lost when the page closes. */
  warning?: string
}

/** `onOtherTab` receives changes by other tabs. Never rejects. Without storage, conversations are lost when the page closes. */
export async function openKept(onOtherTab: OnOtherTab): Promise<Kept> {
  const store = indexedDbSessionStore({
    name: 'phi-playground',
    onTakenOver: (sessionId) => onOtherTab(sessionId, 'takenOver'),
    onChange: (sessionId) => onOtherTab(sessionId, 'changed'),
  })
  try {
    await store.listIds()
    return keptIn(store, () => store.openIds())
  } catch (error) {
    return { ...keptIn(memorySessionStore()), warning: `Conversations are lost when you close this page: ${wordsOf(error)}` }
  }
}

/** Conversations in a store. */
export function keptIn(store: SessionStore, openIds: () => Promise<string[]> = async () => []): Kept {
  return { store: withEvents(store, { includeStreamingEvents: true }), openIds, resume: resumeAgent }
}
