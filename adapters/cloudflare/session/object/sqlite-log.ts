import { joinedBytes } from '../../../../src/base/base64.ts'
import { splitText } from '../../../../src/base/text/characters.ts'
import { type LogLine, SessionError } from '../../../../src/session.ts'
import { maxRowBytes } from '../../../sqlite/internal.ts'
import type { ObjectStorage, SqlValue } from '../workers-platform.ts'

/** Prefix for writers that belong to an object's own agent. */
const liveWriter = 'live-'

/** A claim of a `SqliteLog`. */
export interface SqliteClaim {
  epoch: number
  /** Random, because epochs restart after a deletion and an old writer must not be mistaken for a new one. */
  writer: string
  lines: string[]
  /** Whether media of older writers exist. */
  hasBlobs: boolean
}

/** The part of a claim that is sent with calls. */
export type SqliteRight = Pick<SqliteClaim, 'epoch' | 'writer'>

/**
 * One session's log in a Durable Object's SQLite database.
 *
 * **Contract**
 * - All methods are synchronous, so no other request runs between a check and the dependent write. Writes are durable when `storage.sync()`
 *   resolves, or when a later response arrives.
 */
export class SqliteLog {
  readonly #storage: ObjectStorage

  constructor(storage: ObjectStorage) {
    this.#storage = storage
  }

  /** Starts the next epoch. `holder`: `live` for the agent in this object, `other` for any other writer. */
  claim(holder: 'live' | 'other'): SqliteClaim {
    return this.#storage.transactionSync(() => {
      this.#createTables()
      const epoch = (this.#claimed()?.epoch ?? 0) + 1
      const writer = (holder === 'live' ? liveWriter : '') + crypto.randomUUID()
      this.#storage.sql.exec('INSERT OR REPLACE INTO claim (id, epoch, writer) VALUES (1, ?, ?)', epoch, writer)
      return { epoch, writer, lines: this.read(0) ?? [], hasBlobs: this.#rows('SELECT epoch FROM blobs LIMIT 1').length > 0 }
    })
  }

  /**
   * Appends all lines or none. Throws `SessionError` `conflict` if another writer has claimed the log. Repeated lines have no effect.
   */
  append({ epoch, writer }: SqliteRight, lines: readonly LogLine[]): void {
    this.#storage.transactionSync(() => {
      this.#assertClaimed(epoch, writer)
      for (const { seq, text } of lines) {
        for (const [chunk, piece] of splitText(text, maxRowBytes).entries()) this.#insert(epoch, seq, chunk, piece)
      }
    })
  }

  /** Deletes the lines of epochs before `epoch`. Throws like `append`. */
  discardOlder({ epoch, writer }: SqliteRight): void {
    this.#storage.transactionSync(() => {
      this.#assertClaimed(epoch, writer)
      this.#storage.sql.exec('DELETE FROM records WHERE epoch < ?', epoch)
      this.#storage.sql.exec('DELETE FROM blobs WHERE epoch < ?', epoch)
    })
  }

  /** Stores media under their hash. Throws like `append`. */
  putBlob({ epoch, writer }: SqliteRight, hash: string, bytes: Uint8Array<ArrayBuffer>): void {
    const { sql } = this.#storage
    this.#storage.transactionSync(() => {
      this.#assertClaimed(epoch, writer)
      sql.exec('DELETE FROM blobs WHERE hash = ? AND epoch = ?', hash, epoch)
      for (let at = 0, chunk = 0; at < bytes.length; at += maxRowBytes, chunk++) {
        const piece = bytes.slice(at, at + maxRowBytes).buffer
        sql.exec('INSERT INTO blobs (hash, epoch, chunk, bytes) VALUES (?, ?, ?, ?)', hash, epoch, chunk, piece)
      }
    })
  }

  /** Returns the newest media under `hash`, or `undefined` if there are none. */
  getBlob(hash: string): Uint8Array<ArrayBuffer> | undefined {
    if (!this.#hasTable('blobs')) return undefined
    const pieces = this.#rows<{ bytes: ArrayBuffer }>(
      'SELECT bytes FROM blobs WHERE hash = ?1 AND epoch = (SELECT max(epoch) FROM blobs WHERE hash = ?1) ORDER BY chunk',
      hash,
    ).map(({ bytes }) => new Uint8Array(bytes))
    return pieces.length === 0 ? undefined : joinedBytes(pieces)
  }

  /** Deletes media of older writers, except `hashes`. Throws like `append`. */
  keepBlobs({ epoch, writer }: SqliteRight, hashes: readonly string[]): void {
    this.#storage.transactionSync(() => {
      this.#assertClaimed(epoch, writer)
      // Passed as one value, because statements allow only a few parameters.
      this.#storage.sql.exec(
        'DELETE FROM blobs WHERE epoch < ? AND hash NOT IN (SELECT value FROM json_each(?))',
        epoch,
        JSON.stringify(hashes),
      )
    })
  }

  /** Releases the claim. Does nothing if another writer has claimed the log since then. */
  release({ epoch, writer }: SqliteRight): void {
    if (this.#hasTables()) this.#storage.sql.exec("UPDATE claim SET writer = '' WHERE epoch = ? AND writer = ?", epoch, writer)
  }

  /** Returns the writer that holds the claim, if it is not the agent in this object. */
  otherHolder(): string | undefined {
    const writer = this.#hasTables() ? this.#claimed()?.writer : undefined
    return writer === undefined || writer === '' || writer.startsWith(liveWriter) ? undefined : writer
  }

  hasRecords(): boolean {
    return this.#hasTables() && this.#rows('SELECT seq FROM records LIMIT 1').length > 0
  }

  /** Returns the lines after `after`, or `undefined` without any record. */
  read(after: number): string[] | undefined {
    if (!this.hasRecords()) return undefined
    const lines: string[] = []
    const rows = this.#storage.sql.exec<{ chunk: number; text: string }>(
      'SELECT chunk, text FROM records WHERE seq > ? ORDER BY epoch, seq, chunk',
      after,
    )
    for (const { chunk, text } of rows) {
      if (chunk === 0) lines.push(text)
      else lines.push((lines.pop() ?? '') + text)
    }
    return lines
  }

  /** Returns the last line's `seq`, or `undefined` if there is no line. */
  lastSeq(): number | undefined {
    if (!this.hasRecords()) return undefined
    const [last] = this.#storage.sql.exec<{ seq: number }>('SELECT seq FROM records ORDER BY epoch DESC, seq DESC LIMIT 1')
    return last?.seq
  }

  #insert(epoch: number, seq: number, chunk: number, text: string): void {
    const { sql } = this.#storage
    const insert = sql.exec('INSERT OR IGNORE INTO records (epoch, seq, chunk, text) VALUES (?, ?, ?, ?)', epoch, seq, chunk, text)
    if (insert.rowsWritten > 0) return
    const [there] = sql.exec<{ text: string }>('SELECT text FROM records WHERE epoch = ? AND seq = ? AND chunk = ?', epoch, seq, chunk)
    if (there?.text !== text) throw new SessionError('conflict', `Another writer wrote record ${seq} of epoch ${epoch}.`)
  }

  #assertClaimed(epoch: number, writer: string): void {
    const claimed = this.#hasTables() ? this.#claimed() : undefined
    if (claimed?.epoch === epoch && claimed.writer === writer) return
    throw new SessionError('conflict', 'Another writer took over the session, or the session was deleted. Open it again to write.')
  }

  #claimed(): { epoch: number; writer: string } | undefined {
    return this.#rows<{ epoch: number; writer: string }>('SELECT epoch, writer FROM claim')[0]
  }

  /** An object that receives only reads stores nothing, and therefore costs nothing. */
  #hasTables(): boolean {
    return this.#hasTable('records')
  }

  #hasTable(name: string): boolean {
    return this.#rows('SELECT name FROM sqlite_master WHERE name = ?', name).length > 0
  }

  #createTables(): void {
    const { sql } = this.#storage
    sql.exec('CREATE TABLE IF NOT EXISTS claim (id INTEGER PRIMARY KEY, epoch INTEGER NOT NULL, writer TEXT NOT NULL)')
    sql.exec(`CREATE TABLE IF NOT EXISTS records (epoch INTEGER, seq INTEGER, chunk INTEGER, text TEXT NOT NULL,
      PRIMARY KEY (epoch, seq, chunk)) WITHOUT ROWID`)
    // Use row ids, because tables without them store long values less efficiently.
    sql.exec(
      'CREATE TABLE IF NOT EXISTS blobs (hash TEXT, epoch INTEGER, chunk INTEGER, bytes BLOB NOT NULL, PRIMARY KEY (hash, epoch, chunk))',
    )
  }

  #rows<Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]): Row[] {
    return this.#storage.sql.exec<Row>(query, ...bindings).toArray()
  }
}
