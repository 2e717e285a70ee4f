import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import type { SessionDigest } from '../../../src/session/index.ts'
import { storageError } from './storage-error.ts'

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

/** The object stores. A row without `order` is not in the index: sessions without records are in no list. */
export interface Schema extends DBSchema {
  sessions: { key: string; value: SessionRow; indexes: { order: number } }
  records: { key: [string, number, number]; value: RecordRow }
}

/** Gives the connection; opens it with the first call, and again after it was lost. */
export type Connect = () => Promise<IDBPDatabase<Schema>>

const version = 1

/**
 * The connection to the database `name`.
 *
 * **Contract**: it is closed at once when another tab upgrades or deletes the database, so that nobody waits for this one. The next call opens
 * it again, and rejects with `SessionError` `newerSchema` when that tab runs a newer version of the package.
 */
export function connection(name: string): Connect {
  let current: Promise<IDBPDatabase<Schema>> | undefined

  function forget(): void {
    current = undefined
  }

  async function open(): Promise<IDBPDatabase<Schema>> {
    try {
      return await openDB<Schema>(name, version, {
        upgrade(database) {
          database.createObjectStore('sessions', { keyPath: 'sid' }).createIndex('order', 'order')
          database.createObjectStore('records', { keyPath: ['sid', 'epoch', 'seq'] })
        },
        blocking(_current, _next, event) {
          forget()
          if (event.target instanceof IDBDatabase) event.target.close()
        },
        terminated: forget,
      })
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
