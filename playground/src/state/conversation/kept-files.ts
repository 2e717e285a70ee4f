import { firstWords } from '../../late/first-words.ts'
import { latePart } from '../../late/late-part.ts'
import type { Attachment } from './attachments.ts'

/** Stored separately, because a draft belongs to no conversation yet. Its code is in the same file; if that cannot be loaded, a notice says so. */
const files = latePart(async () => {
  await firstWords
  const { openDB } = await import('idb')
  return openDB('phi-playground-drafts', 1, { upgrade: (db) => void db.createObjectStore('files') })
})

/** Files of a draft; none if the browser stores nothing. */
export async function keptFiles(sessionId: string): Promise<readonly Attachment[]> {
  try {
    return (await (await files.load()).get('files', sessionId)) ?? []
  } catch {
    return []
  }
}

/** Never rejects: without storage, files live as long as the page. */
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
