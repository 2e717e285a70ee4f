import { firstWords } from '../../late/first-words.ts'
import { latePart } from '../../late/late-part.ts'
import type { Attachment } from './attachments.ts'

/**
 * Stored separately, because a draft does not belong to the conversation's log yet. The code is in the same file as the session store, and
 * a notice reports if that cannot be loaded.
 */
const files = latePart(async () => {
  await firstWords
  const { openDB } = await import('idb')
  return openDB('phi-playground-drafts', 1, { upgrade: (db) => void db.createObjectStore('files') })
})

/** Returns a draft's files, or none if the browser stores nothing. */
export async function keptFiles(sessionId: string): Promise<readonly Attachment[]> {
  try {
    return (await (await files.load()).get('files', sessionId)) ?? []
  } catch {
    return []
  }
}

/** Never rejects. Without storage, files live as long as the page. */
export async function keepFiles(sessionId: string, attached: readonly Attachment[]): Promise<void> {
  try {
    const db = await files.load()
    if (attached.length === 0) await db.delete('files', sessionId)
    else await db.put('files', [...attached], sessionId)
  } catch {
    // Storage is full or forbidden.
  }
}

/** Returns the conversations whose draft has files. */
export async function sessionsWithFiles(): Promise<string[]> {
  try {
    return (await (await files.load()).getAllKeys('files')).map(String)
  } catch {
    return []
  }
}
