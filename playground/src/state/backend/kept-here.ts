// Where conversations of this browser are kept. It comes behind the first words of an answer.

import { indexedDbSessionStore } from '../../../../adapters/browser/index.ts'
import { memorySessionStore, resumeAgent, type SessionStore } from '../../../../src/index.ts'
import { type EventStore, withEvents } from '../../../../src/session.ts'
import { wordsOf } from '../notices/words.ts'
import type { OnOtherTab } from './chat-port.ts'

/** Conversations that are kept: in this browser, or as long as this page where the browser stores nothing. */
export interface Kept {
  /** With all their events, so that every view is there again after a reload. */
  store: SessionStore & EventStore
  /** Those that somebody writes to. */
  openIds(): Promise<string[]>
  resume: typeof resumeAgent
  /** Why they end with the page. */
  warning?: string
}

/** `onOtherTab` hears of what other tabs do. Never rejects: where the browser stores nothing, they end with the page. */
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
    return { ...keptIn(memorySessionStore()), warning: `Conversations end with this page: ${wordsOf(error)}` }
  }
}

/** Conversations in a store. */
export function keptIn(store: SessionStore, openIds: () => Promise<string[]> = async () => []): Kept {
  return { store: withEvents(store, { includeStreamingEvents: true }), openIds, resume: resumeAgent }
}
