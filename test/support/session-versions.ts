import { memorySessionStore, type SessionStore } from '../../src/index.ts'
import { exportSession, importSession, type SessionRecord } from '../../src/session.ts'

/** How long the records of a version are: some take several rows of a store. */
const sizes = [10, 3000, 200_000, 100, 600_000, 10]

/** What `versionsIn` gives of a whole session. */
export const wholeVersion = (version: number): number[] => sizes.map(() => version)

/** Puts a session in place of the one that is there, each record of which says of which version it is. */
export async function importVersion(store: SessionStore, sessionId: string, version: number): Promise<void> {
  const made = memorySessionStore()
  const writer = await made.open(sessionId, { agentId: 'a' })
  const notes = sizes.map((size, index) => ({ id: `m${index}`, data: `${version} ${'x'.repeat(size)}` }))
  await writer.append(notes.map((each) => ({ entry: { type: 'input', message: { role: 'extension', kind: 'note', ...each } } })))
  await writer.close()
  await importSession(store, await exportSession(made, sessionId), { replace: true })
}

/** Of which version each record is. */
export function versionsIn(records: readonly SessionRecord[]): number[] {
  return records.map(({ entry }) =>
    entry.type === 'input' && entry.message.role === 'extension' ? Number.parseInt(String(entry.message.data), 10) : 0,
  )
}
