import type { SessionStore } from '../../../../src/index.ts'
import { exportSession, importSession, SessionError } from '../../../../src/session.ts'
import { sessionFile } from '../../sessions/session-file.ts'
import type { ExportFormat, SessionFile } from './chat-port.ts'

/** Exports a conversation from `store` as a file. */
export function fileOf(store: SessionStore, sessionId: string, format: ExportFormat): Promise<SessionFile> {
  return sessionFile({ sessionId, format, log: () => exportSession(store, sessionId), read: () => store.load(sessionId) })
}

/** Imports a file. See `Backend.importFrom`. */
export async function importInto(store: SessionStore, text: string, { replace = false }: { replace?: boolean } = {}): Promise<string> {
  if (text.startsWith('{"format"')) {
    if (replace) return importSession(store, text, { replace })
    return await importSession(store, text).catch((error: unknown) => {
      if (SessionError.isInstance(error) && error.code === 'conflict') return importSession(store, text, { sessionId: newId() })
      throw error
    })
  }
  const { sessionFromSpecJson } = await import('../../../../src/rust.ts')
  const session = sessionFromSpecJson(text)
  const isTaken = (await store.listIds()).includes(session.sessionId)
  const stored = isTaken ? { ...session, sessionId: newId(), loops: session.loops } : session
  await store.save(stored)
  return stored.sessionId
}

function newId(): string {
  return `imported-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`
}
