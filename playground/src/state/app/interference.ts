import { type ReadonlySignal, signal } from '@preact/signals'
import type { Backend, OnOtherTab, TabNews } from '../backend/chat-port.ts'
import type { Conversation } from '../conversation/conversation.ts'
import type { Notices } from '../notices/notices.ts'
import { isBusy } from './open-conversations.ts'
import type { StoredList } from './stored-list.ts'
import type { View } from './view.ts'

/** A change that another tab made to the shown conversation. */
export type Interference = 'continued' | 'deleted'

/** Changes that other tabs made to this tab's conversations. */
export interface TabWatch {
  /** Set while the shown conversation differs from the stored one. */
  interference: ReadonlySignal<Interference | undefined>
  /** Handles a change by another tab. */
  heard(...news: Parameters<OnOtherTab>): Promise<void>
  /** Checks whether another tab writes to the conversation. */
  look(conversation: Conversation): Promise<void>
  clear(): void
}

interface Watched {
  backend: Backend
  notices: Notices
  stored: StoredList
  view: View
}

export function createTabWatch({ backend, notices, stored, view: { current, hidden, drop } }: Watched): TabWatch {
  const interference = signal<Interference | undefined>(undefined)

  /** A reloading page releases its conversations after a moment. Another tab that writes keeps them. */
  async function isOpenElsewhere(sessionId: string): Promise<boolean> {
    for (let look = 0; look < 5; look++) {
      if (!(await isOpen(sessionId))) return false
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    return true
  }

  async function isOpen(sessionId: string): Promise<boolean> {
    const attempt = { topic: 'tabs', failure: 'Cannot check whether another tab writes to this conversation', sessionId }
    return (await notices.attempt(attempt, () => backend.isOpen(sessionId))) ?? false
  }

  async function heard(sessionId: string, what: TabNews): Promise<void> {
    const shown = current.value
    const { runId } = shown.state.value
    const wasBusy = isBusy(shown)
    const conversation = hidden(sessionId)?.conversation
    if (conversation !== undefined) {
      conversation.abort()
      drop(sessionId)
      await conversation.close()
    }
    await stored.refresh()
    if (current.value.sessionId !== sessionId) return
    const isThere = stored.has(sessionId) || (await isOpen(sessionId))
    // A message sent from here claims the conversation, or is about to. The other tab is then notified.
    const isNext = shown === current.value && (wasBusy || isBusy(shown) || shown.state.value.runId !== runId)
    if (what === 'changed' && isNext && isThere) return
    current.value.abort()
    interference.value = isThere ? 'continued' : 'deleted'
  }

  async function look(conversation: Conversation): Promise<void> {
    const isElsewhere = await isOpenElsewhere(conversation.sessionId)
    if (isElsewhere && current.value === conversation && !isBusy(conversation) && conversation.state.value.runId === undefined) {
      interference.value = 'continued'
    }
  }

  return {
    interference,
    heard,
    look,
    clear() {
      interference.value = undefined
    },
  }
}
