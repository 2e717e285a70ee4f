import { indexedDbSessionStore } from '../../../adapters/browser/index.ts'
import { memorySessionStore, type SessionStore, textOf } from '../../../src/index.ts'

/** What the list shows of a conversation. */
export interface StoredSession {
  sessionId: string
  /** What was said first. Empty before anything was said. */
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
  // How a conversation began never changes.
  const beginnings = new Map<string, Beginning>()

  async function beginningOf(sessionId: string): Promise<Beginning> {
    const known = beginnings.get(sessionId) ?? (await readBeginning(store, sessionId))
    if (known.title !== '') beginnings.set(sessionId, known)
    return known
  }

  return {
    store,
    async list() {
      const [ids, open] = await Promise.all([store.listIds(), openIds()])
      const begun = await Promise.allSettled(ids.slice(0, listLimit).map(beginningOf))
      return begun.flatMap((outcome, index) => {
        const sessionId = ids[index] ?? ''
        // One that was deleted meanwhile has none.
        return outcome.status === 'fulfilled' ? [{ ...outcome.value, sessionId, isOpen: open.includes(sessionId) }] : []
      })
    },
    isOpen: async (sessionId) => (await openIds()).includes(sessionId),
  }
}

type Beginning = Pick<StoredSession, 'title' | 'startedAt'>

async function readBeginning(store: SessionStore, sessionId: string): Promise<Beginning> {
  const { records } = await store.tail(sessionId)
  let title = ''
  for (const { entry } of records) {
    if (entry.type !== 'input' || entry.message.role !== 'user') continue
    title = textOf(entry.message.content)
    break
  }
  return { title, startedAt: records[0]?.at ?? 0 }
}
