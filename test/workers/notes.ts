import type { JsonValue } from '../../src/index.ts'
import { SessionError, type SessionRecord } from '../../src/session.ts'
import type { NewSessionRecord } from '../../src/types/session/session-store.ts'

/** A record that holds `data`. */
export function note(data: JsonValue): NewSessionRecord {
  return { entry: { type: 'input', message: { role: 'extension', id: crypto.randomUUID(), kind: 'note', data } } }
}

/** What the notes among these records hold. */
export function notesIn(records: readonly SessionRecord[]): JsonValue[] {
  return records.flatMap(({ entry }) => (entry.type === 'input' && entry.message.role === 'extension' ? [entry.message.data] : []))
}

/** The code a call is refused with, or `fulfilled`. */
export async function failureOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'fulfilled'
  } catch (error) {
    return SessionError.isInstance(error) ? error.code : String(error)
  }
}
