import { SessionError, type SessionErrorCode } from '../../../src/index.ts'

const codes: Record<string, SessionErrorCode> = { QuotaExceededError: 'quota', ConstraintError: 'conflict', VersionError: 'newerSchema' }

const advice: Partial<Record<SessionErrorCode, string>> = {
  quota: 'The browser gives this site no more room: delete old sessions, or ask for more with navigator.storage.persist().',
  conflict: 'Another tab has written the same record.',
  newerSchema: 'Another tab runs a newer version of this page: reload.',
}

/** The `SessionError` for what IndexedDB failed with: `quota`, `conflict`, `newerSchema`, otherwise `io`. */
export function storageError(error: unknown, what: string): SessionError {
  if (SessionError.isInstance(error)) return error
  const { name = 'Error', message = '' } = error instanceof Error || error instanceof DOMException ? error : {}
  const code = codes[name] ?? 'io'
  const reason = [name, message].filter(Boolean).join(': ')
  const next = advice[code] ?? 'Without storage, as in some private windows, memorySessionStore() keeps sessions while the page is open.'
  return new SessionError(code, `${what} (${reason}). ${next}`, { cause: error })
}

/** Throws `SessionError` `io` where there is no IndexedDB: outside browsers, and where a person or policy has switched storage off. */
export function assertIndexedDb(): void {
  if (typeof indexedDB !== 'undefined') return
  throw new SessionError('io', 'There is no IndexedDB here, so that sessions cannot be stored.', {
    hint: 'Some private windows and sandboxed frames have none. memorySessionStore() keeps sessions while the page is open.',
  })
}
