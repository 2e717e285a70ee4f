import { indexedDbSessionStore } from '../../../adapters/browser/index.ts'
import { memorySessionStore, type SessionStore } from '../../../src/index.ts'

/** What the list shows of a conversation. */
export interface StoredSession {
  sessionId: string
  /** Its name, or what was said first; that it cannot be read. Empty before anything was said. */
  title: string
  /** Epoch ms of the first record. */
  startedAt: number
  /** A living tab writes to it; perhaps this one. */
  isOpen: boolean
}

/** Where the conversations are. */
export interface StoredSessions {
  store: SessionStore
  /** Why they end with the page. Absent where they are kept. */
  warning?: string
  /** The most recently active first. */
  list(): Promise<StoredSession[]>
  isOpen(sessionId: string): Promise<boolean>
}

/** At most so many are listed. */
const listLimit = 50

/**
 * The conversations of this browser, or of this page alone where the browser stores nothing. `onOtherTab` hears of each conversation that another
 * tab has begun, opened, closed or deleted.
 */
export async function openSessions(onOtherTab: (sessionId: string) => void): Promise<StoredSessions> {
  const store = indexedDbSessionStore({ name: 'phi-playground', onTakenOver: onOtherTab, onChange: onOtherTab })
  try {
    await store.listIds()
    return storedSessions(store, () => store.openIds())
  } catch (error) {
    const warning = `Conversations end with this page: ${error instanceof Error ? error.message : String(error)}`
    return { ...storedSessions(memorySessionStore(), async () => []), warning }
  }
}

function storedSessions(store: SessionStore, openIds: () => Promise<string[]>): StoredSessions {
  return {
    store,
    async list() {
      const [{ sessions }, open] = await Promise.all([store.list({ limit: listLimit }), openIds()])
      return sessions.map(({ sessionId, title = '', createdAt, error }) => ({
        sessionId,
        title: error === undefined ? title : 'This conversation cannot be read.',
        startedAt: createdAt,
        isOpen: open.includes(sessionId),
      }))
    },
    isOpen: async (sessionId) => (await openIds()).includes(sessionId),
  }
}
