import { type ReadonlySignal, signal } from '@preact/signals'
import { dropDraft } from '../conversation/draft.ts'
import { type KeptDraft, keptDrafts } from '../conversation/kept-words.ts'
import type { Notices } from '../notices/notices.ts'
import type { StoredList } from './stored-list.ts'

/** Unsent conversation drafts, newest first, so that users can find them. */
export interface DraftList {
  /** Drafts in empty conversations. */
  unsent: ReadonlySignal<readonly KeptDraft[]>
  /** Returns whether a stored conversation has unsent text. */
  has(sessionId: string): boolean
  refresh(): Promise<void>
  drop(sessionId: string): Promise<void>
}

export function createDrafts(stored: StoredList): DraftList {
  const all = signal<readonly KeptDraft[]>([])
  const unsent = signal<readonly KeptDraft[]>([])

  async function refresh(): Promise<void> {
    all.value = await keptDrafts()
    unsent.value = all.value.filter(({ sessionId }) => !stored.has(sessionId))
  }

  return {
    unsent,
    has: (sessionId) => all.value.some((draft) => draft.sessionId === sessionId),
    refresh,
    async drop(sessionId) {
      await dropDraft(sessionId)
      await refresh()
    },
  }
}

/** Notifies the user of unsent drafts after a reload. */
export function tellOfDraft({ unsent }: DraftList, current: string, notices: Notices): void {
  const newest = unsent.value.find(({ sessionId }) => sessionId !== current)
  if (newest === undefined) return
  const text = `You have an unsent message: “${titleOf(newest)}”`
  notices.tell({ topic: 'draft', sessionId: newest.sessionId, kind: 'news', text, remedies: ['open'] })
}

/** The draft's beginning. */
export function titleOf({ text }: KeptDraft): string {
  const line = text.trim().replace(/\s+/g, ' ')
  if (line === '') return 'Files without words'
  return line.length > 80 ? `${line.slice(0, 80)}…` : line
}
