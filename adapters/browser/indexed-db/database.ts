import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import { openWithTimeout, type SessionDigest, SessionError, type SessionErrorCode } from '../../../src/session.ts'

const codes: Record<string, SessionErrorCode> = { QuotaExceededError: 'quota', ConstraintError: 'conflict', VersionError: 'newerSchema' }

const advice: Partial<Record<SessionErrorCode, string>> = {
  quota: "The browser's storage quota is used up. Delete old sessions, or request more with navigator.storage.persist().",
  conflict: 'Another tab wrote the same record.',
  newerSchema: 'Another tab runs a newer version of this page. Reload the page.',
}

/** Converts an IndexedDB failure to a `SessionError`: `quota`, `conflict`, `newerSchema`, otherwise `io`. */
export function storageError(error: unknown, what: string): SessionError {
  if (SessionError.isInstance(error)) return error
  const { name = 'Error', message = '' } = error instanceof Error || error instanceof DOMException ? error : {}
  const code = codes[name] ?? 'io'
  const reason = [name, message].filter(Boolean).join(': ')
  const next =
    advice[code] ?? 'If storage is unavailable, as in some private windows, use memorySessionStore(), which lasts while the page is open.'
  return new SessionError(code, `${what} (${reason}).`, { cause: error, hint: next })
}

/** Throws `SessionError` `io` without IndexedDB: outside browsers, or if storage is disabled. */
export function assertIndexedDb(): void {
  if (typeof indexedDB !== 'undefined') return
  throw new SessionError('io', 'Cannot store sessions: IndexedDB is unavailable.', {
    hint: 'Some private windows and sandboxed frames disable it. Use memorySessionStore(), which lasts while the page is open.',
  })
}

/** A session's newest writer and its data for lists. */
export interface SessionRow {
  sid: string
  epoch: number
  /** Random per claim, because the epochs of a session that was deleted and created again restart at 1. */
  writer: string
  /** Position of the last write among all sessions. Absent, like all fields below, before the first record. */
  order?: number
  agentId?: string
  /** Epoch milliseconds. */
  createdAt?: number
  /** Epoch ms. */
  lastActiveAt?: number
  /** Other data for lists. */
  digest?: SessionDigest
}

/** A line in a log. */
export interface RecordRow {
  sid: string
  epoch: number
  seq: number
  text: string
}

/** Media by hash. Each writer's media are separate. */
export interface BlobRow {
  sid: string
  hash: string
  epoch: number
  bytes: Uint8Array<ArrayBuffer>
}

/** The object stores. A row without `order` is not in the index, so lists omit sessions without records. */
export interface Schema extends DBSchema {
  sessions: { key: string; value: SessionRow; indexes: { order: number } }
  records: { key: [string, number, number]; value: RecordRow }
  blobs: { key: [string, string, number]; value: BlobRow }
}

/** Returns the connection. Opens it on first use, and again after it was lost. */
export type Connect = () => Promise<IDBPDatabase<Schema>>

/** Version 1 had no `blobs`. */
const version = 2

/**
 * Creates a connection to the database `name`.
 *
 * **Contract**
 * - It closes immediately when another tab upgrades or deletes the database, so that the other tab does not wait. The next call opens it
 *   again. It rejects with `SessionError` `newerSchema` if that tab runs a newer version of the package, and with `blocked` if it is not
 *   open after 5 s because a hanging tab holds it. A connection that opens later is closed.
 */
export function connection(name: string): Connect {
  let current: Promise<IDBPDatabase<Schema>> | undefined

  function forget(): void {
    current = undefined
  }

  function request(): Promise<IDBPDatabase<Schema>> {
    return openDB<Schema>(name, version, {
      upgrade(database, before) {
        if (before < 1) {
          database.createObjectStore('sessions', { keyPath: 'sid' }).createIndex('order', 'order')
          database.createObjectStore('records', { keyPath: ['sid', 'epoch', 'seq'] })
        }
        database.createObjectStore('blobs', { keyPath: ['sid', 'hash', 'epoch'] })
      },
      blocking(_current, _next, event) {
        forget()
        if (event.target instanceof IDBDatabase) event.target.close()
      },
      terminated: forget,
    })
  }

  async function open(): Promise<IDBPDatabase<Schema>> {
    try {
      return await openWithTimeout(`The database ${JSON.stringify(name)}`, request, async (late) => late.close())
    } catch (error) {
      forget()
      throw storageError(error, `Cannot open the database ${JSON.stringify(name)}`)
    }
  }

  return () => {
    current ??= open()
    return current
  }
}
