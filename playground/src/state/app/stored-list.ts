import { type ReadonlySignal, signal } from '@preact/signals'
import type { Backend, StoredSession } from '../backend/chat-port.ts'
import type { Notices } from '../notices/notices.ts'

/** Initial number of listed conversations, and of each further page. */
const shownAtOnce = 100

/** Stored conversations, most recently active first. */
export interface StoredList {
  sessions: ReadonlySignal<readonly StoredSession[]>
  /** Whether the list has been read. Before that, its content is unknown. */
  isRead: ReadonlySignal<boolean>
  /** Whether there are more conversations. */
  hasMore: ReadonlySignal<boolean>
  has(sessionId: string): boolean
  refresh(): Promise<void>
  more(): Promise<void>
  rename(sessionId: string, title: string): Promise<void>
}

export function createStoredList(backend: Backend, notices: Notices): StoredList {
  const sessions = signal<readonly StoredSession[]>([])
  const isRead = signal(false)
  const hasMore = signal(false)
  let wanted = shownAtOnce

  async function refresh(): Promise<void> {
    await notices.attempt({ topic: 'list', failure: 'Cannot read the list of conversations', remedies: ['reload'] }, async () => {
      const page = await backend.list(wanted + 1)
      hasMore.value = page.length > wanted
      sessions.value = page.slice(0, wanted)
      isRead.value = true
    })
  }

  return {
    sessions,
    isRead,
    hasMore,
    has: (sessionId) => sessions.value.some((session) => session.sessionId === sessionId),
    refresh,
    async more() {
      wanted += shownAtOnce
      await refresh()
    },
    async rename(sessionId, title) {
      await notices.attempt({ topic: 'rename', failure: 'Not renamed' }, () => backend.rename(sessionId, title))
      await refresh()
    },
  }
}
