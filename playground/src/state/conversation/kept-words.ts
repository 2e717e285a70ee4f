import { sessionsWithFiles } from './kept-files.ts'

/** Unsent text without files. */
export interface Words {
  text: string
  /** Edited message texts, by id. */
  edits: Readonly<Record<string, string>>
}

const place = (sessionId: string) => `phi-playground-draft ${sessionId}`
/** Maximum number of stored drafts whose tab is closed. The oldest are deleted first. */
const most = 30

/**
 * Returns a conversation's draft. After a reload, this is this tab's draft. Otherwise, it is the latest draft from a closed tab.
 * Without storage, drafts live as long as the page.
 */
export function keptWords(sessionId: string): Words {
  for (const storage of ['sessionStorage', 'localStorage'] as const) {
    const words = tried(() => wordsIn(globalThis[storage].getItem(place(sessionId))))
    if (words !== undefined) return words
  }
  return { text: '', edits: {} }
}

/** Stores synchronously, because the page may end at any time. Returns whether the draft survives a reload. */
export function keepWords(sessionId: string, { text, edits }: Words): boolean {
  const isEmpty = text === '' && Object.keys(edits).length === 0
  const kept = (['sessionStorage', 'localStorage'] as const).map((storage) =>
    tried(() => {
      if (isEmpty) globalThis[storage].removeItem(place(sessionId))
      else globalThis[storage].setItem(place(sessionId), JSON.stringify({ text, edits, at: Date.now() }))
      return true
    }),
  )
  if (!isEmpty) tried(() => forgetOldest(localStorage))
  return isEmpty || kept.includes(true)
}

/** A conversation's draft, as shown in the list of drafts. */
export interface KeptDraft {
  sessionId: string
  /** Empty if there are only files. */
  text: string
  /** Last change in epoch milliseconds. 0 if unknown. */
  at: number
}

/** Returns all stored drafts that can be sent, newest first. Never rejects. */
export async function keptDrafts(): Promise<readonly KeptDraft[]> {
  const words = tried(() => Object.keys(localStorage).flatMap(draftAt)) ?? []
  const withFiles = (await sessionsWithFiles()).filter((id) => words.every(({ sessionId }) => sessionId !== id))
  return [...words, ...withFiles.map((sessionId) => ({ sessionId, text: '', at: 0 }))].sort((a, b) => b.at - a.at)
}

function draftAt(key: string): KeptDraft[] {
  if (!key.startsWith(place(''))) return []
  const kept = localStorage.getItem(key)
  const text = tried(() => wordsIn(kept))?.text ?? ''
  return text.trim() === '' ? [] : [{ sessionId: key.slice(place('').length), text, at: changedAt(kept) }]
}

const changedAt = (kept: string | null) => Number(tried(() => Object(JSON.parse(kept ?? '{}')).at) ?? 0)

function forgetOldest(storage: Storage): void {
  const all = Object.keys(storage).filter((key) => key.startsWith(place('')))
  if (all.length <= most) return
  const at = (key: string) => changedAt(storage.getItem(key))
  for (const key of all.sort((a, b) => at(a) - at(b)).slice(0, all.length - most)) storage.removeItem(key)
}

function wordsIn(kept: string | null): Words | undefined {
  if (kept === null) return undefined
  const { text, edits } = Object(JSON.parse(kept))
  const known = Object.entries(Object(edits)).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  return typeof text === 'string' ? { text, edits: Object.fromEntries(known) } : undefined
}

/** Storage may be full or forbidden. */
function tried<Value>(act: () => Value): Value | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
