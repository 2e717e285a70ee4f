import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import { openInTime, type SessionDigest, SessionError, type SessionErrorCode } from '../../../src/session.ts'

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
  return new SessionError(code, `${what} (${reason}).`, { cause: error, hint: next })
}

/** Throws `SessionError` `io` where there is no IndexedDB: outside browsers, and where a person or policy has switched storage off. */
export function assertIndexedDb(): void {
  if (typeof indexedDB !== 'undefined') return
  throw new SessionError('io', 'There is no IndexedDB here, so that sessions cannot be stored.', {
    hint: 'Some private windows and sandboxed frames have none. memorySessionStore() keeps sessions while the page is open.',
  })
}

/** The newest writer of a session, and what lists tell about it. */
export interface SessionRow {
  sid: string
  epoch: number
  /** Random, one per claim: a session that was deleted and made again counts its epochs from 1 again. */
  writer: string
  /** Absent, like all after it, until the first record is there. Counts over all sessions: the highest was written to last. */
  order?: number
  agentId?: string
  /** Epoch ms. */
  createdAt?: number
  /** Epoch ms. */
  lastActiveAt?: number
  /** What else lists tell about it. */
  digest?: SessionDigest
}

/** A line of a log. */
export interface RecordRow {
  sid: string
  epoch: number
  seq: number
  text: string
}

/** Bytes beside a log, by their hash. Those of two writers stand beside each other. */
export interface BlobRow {
  sid: string
  hash: string
  epoch: number
  bytes: Uint8Array<ArrayBuffer>
}

/** The object stores. A row without `order` is not in the index: sessions without records are in no list. */
export interface Schema extends DBSchema {
  sessions: { key: string; value: SessionRow; indexes: { order: number } }
  records: { key: [string, number, number]; value: RecordRow }
  blobs: { key: [string, string, number]; value: BlobRow }
}

/** Gives the connection; opens it with the first call, and again after it was lost. */
export type Connect = () => Promise<IDBPDatabase<Schema>>

/** 1: without `blobs`. */
const version = 2

/**
 * The connection to the database `name`.
 *
 * **Contract**: it is closed at once when another tab upgrades or deletes the database, so that nobody waits for this one. The next call opens
 * it again, and rejects with `SessionError` `newerSchema` when that tab runs a newer version of the package, and with `blocked` when nothing is open
 * after 5 s: a tab that hangs still holds it. What opens then is closed again.
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
      return await openInTime(`The database ${JSON.stringify(name)}`, request, async (late) => late.close())
    } catch (error) {
      forget()
      throw storageError(error, `The database ${JSON.stringify(name)} cannot be opened`)
    }
  }

  return () => {
    current ??= open()
    return current
  }
}
