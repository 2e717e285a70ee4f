import { firstWords } from '../../late/first-words.ts'
import { latePart } from '../../late/late-part.ts'
import type { Attachment } from './attachments.ts'

/** Beside the conversations: a draft belongs to none of them yet. Its code is in one file with theirs: where it cannot be had, they say so. */
const files = latePart(async () => {
  await firstWords
  const { openDB } = await import('idb')
  return openDB('phi-playground-drafts', 1, { upgrade: (db) => void db.createObjectStore('files') })
})

/** The pictures and files of a draft; none where the browser keeps nothing. */
export async function keptFiles(sessionId: string): Promise<readonly Attachment[]> {
  try {
    return (await (await files.load()).get('files', sessionId)) ?? []
  } catch {
    return []
  }
}

/** Never rejects: what cannot be kept lives as long as the page. */
export async function keepFiles(sessionId: string, attached: readonly Attachment[]): Promise<void> {
  try {
    const db = await files.load()
    if (attached.length === 0) await db.delete('files', sessionId)
    else await db.put('files', [...attached], sessionId)
  } catch {
    // Full, or forbidden.
  }
}

/** The conversations whose draft has files. */
export async function sessionsWithFiles(): Promise<string[]> {
  try {
    return (await (await files.load()).getAllKeys('files')).map(String)
  } catch {
    return []
  }
}
