import type { IDBPTransaction } from 'idb'
import { randomHex } from '../../../src/contract/message/identity.ts'
import { pageOf } from '../../../src/internal.ts'
import { type LogClaim, type LogDriver, type LogLine, type LogQuery, SessionError, type SessionSummary } from '../../../src/session.ts'
import type { ClaimWatch } from './claim-watch.ts'
import { assertIndexedDb, type BlobRow, type Connect, connection, type Schema, type SessionRow, storageError } from './database.ts'

type StoreName = 'sessions' | 'records' | 'blobs'
type Transaction<Mode extends IDBTransactionMode> = IDBPTransaction<Schema, StoreName[], Mode>

/** The object stores of most transactions. Large media are written beforehand in a separate transaction. */
const logStores: StoreName[] = ['sessions', 'records']
const allStores: StoreName[] = [...logStores, 'blobs']

/** Records per request. The store reports progress between requests. */
const rowsAtOnce = 500

interface OwnClaim {
  writer: string
  agentId: string
  /** Whether older writers have left media. */
  hasBlobs: boolean
}

/**
 * Stores logs in IndexedDB.
 *
 * **Contract**
 * - One transaction claims and reads, and one checks the claim and appends. A tab that was frozen between two steps therefore cannot write
 *   lines that are lost.
 * - Transactions are `strict`: they complete when the operating system has written to the disk.
 */
export function indexedDbDriver(name: string, watch: ClaimWatch): LogDriver {
  const database = connection(name)
  const own = new WeakMap<LogClaim, OwnClaim>()

  function connect(): ReturnType<Connect> {
    assertIndexedDb()
    watch.listen()
    return database()
  }

  function isOwn(row: SessionRow | undefined, claim: LogClaim): row is SessionRow {
    return row !== undefined && row.writer === own.get(claim)?.writer
  }

  function isCurrent(claim: LogClaim): Promise<boolean> {
    return transact(connect, 'readonly', async (tx) => isOwn(await tx.objectStore('sessions').get(claim.sessionId), claim))
  }

  return {
    promises: { conflict: 'refused', readAfterWrite: 'immediate', list: 'immediate', survives: 'powerCut' },

    async claim(sessionId, agentId, onProgress) {
      const writer = randomHex(16)
      const begin = async (tx: Transaction<'readwrite'>) => {
        const row = await tx.objectStore('sessions').get(sessionId)
        const epoch = (row?.epoch ?? 0) + 1
        await tx.objectStore('sessions').put({ ...row, sid: sessionId, epoch, writer })
        const hasBlobs = (await tx.objectStore('blobs').openKeyCursor(allOf(sessionId))) !== null
        return { hasBlobs, claim: { sessionId, epoch, lines: await allLines(tx, sessionId, onProgress) } }
      }
      const take = async () => {
        const { claim, hasBlobs } = await transact(connect, 'readwrite', begin, allStores)
        own.set(claim, { writer, agentId, hasBlobs })
        watch.claimed(claim, () => isCurrent(claim))
        return claim
      }
      return watch.claiming(sessionId, take)
    },

    async append(claim, lines, digest) {
      const agentId = own.get(claim)?.agentId
      try {
        const isFirst = await transact(connect, 'readwrite', async (tx) => {
          const row = await tx.objectStore('sessions').get(claim.sessionId)
          if (!isOwn(row, claim)) throw takenOver(claim)
          const { order, at } = await nextPlace(tx, row)
          addLines(tx, claim.sessionId, lines)
          const summary = { ...(digest !== undefined && { digest }), agentId: agentId ?? '', lastActiveAt: at }
          await tx.objectStore('sessions').put({ createdAt: at, ...row, ...summary, order })
          return row.order === undefined
        })
        if (isFirst) watch.begun(claim)
      } catch (error) {
        if (SessionError.isInstance(error) && error.code === 'conflict') watch.refused(claim)
        throw error
      }
    },

    async discardOlder({ sessionId, epoch }) {
      const discard = async (tx: Transaction<'readwrite'>) => {
        await tx.objectStore('records').delete(IDBKeyRange.bound([sessionId], [sessionId, epoch]))
        await removeBlobs(tx, sessionId, (key) => key[2] < epoch)
      }
      await transact(connect, 'readwrite', discard, allStores)
    },

    async release(claim) {
      watch.released(claim)
      await transact(connect, 'readwrite', async (tx) => {
        const row = await tx.objectStore('sessions').get(claim.sessionId)
        // Claimed but never written, so nothing remains.
        if (isOwn(row, claim) && row.order === undefined) await tx.objectStore('sessions').delete(claim.sessionId)
      })
    },

    read: (sessionId, after, onProgress) =>
      transact(connect, 'readonly', async (tx) => {
        const row = await tx.objectStore('sessions').get(sessionId)
        if (row?.order === undefined) return undefined
        return after > 0 ? linesAfter(tx, sessionId, after, onProgress) : allLines(tx, sessionId, onProgress)
      }),

    list: (query = {}) =>
      transact(connect, 'readonly', async (tx) => {
        if (query.limit !== undefined) return summariesAfter(tx, query, query.limit)
        return pageOf((await tx.objectStore('sessions').index('order').getAll()).reverse().map(summaryOf), query)
      }),

    async delete(sessionId) {
      const existed = await transact(
        connect,
        'readwrite',
        async (tx) => {
          const row = await tx.objectStore('sessions').get(sessionId)
          await Promise.all([
            tx.objectStore('sessions').delete(sessionId),
            tx.objectStore('records').delete(allOf(sessionId)),
            tx.objectStore('blobs').delete(allOf(sessionId)),
          ])
          return row?.order !== undefined
        },
        allStores,
      )
      watch.deleted(sessionId)
      return existed
    },

    blobs: {
      async put(claim, hash, bytes) {
        const { sessionId: sid, epoch } = claim
        const put = async (tx: Transaction<'readwrite'>) => {
          if (!isOwn(await tx.objectStore('sessions').get(sid), claim)) throw takenOver(claim)
          await tx.objectStore('blobs').put({ sid, hash, epoch, bytes })
        }
        await transact(connect, 'readwrite', put, allStores)
      },
      get: (sid, hash) => transact(connect, 'readonly', async (tx) => (await newestBlob(tx, sid, hash))?.bytes, ['blobs']),
      async keep(claim, hashes) {
        const { sessionId, epoch } = claim
        if (own.get(claim)?.hasBlobs === false) return
        await transact(connect, 'readwrite', (tx) => removeBlobs(tx, sessionId, (key) => key[2] < epoch && !hashes.has(key[1])), ['blobs'])
      },
    },
  }
}

/** `work` may only await IndexedDB requests, because anything else ends the transaction. */
async function transact<Mode extends 'readonly' | 'readwrite', T>(
  connect: Connect,
  mode: Mode,
  work: (tx: Transaction<Mode>) => Promise<T>,
  stores = logStores,
): Promise<T> {
  const database = await connect()
  let tx: Transaction<Mode> | undefined
  try {
    tx = database.transaction(stores, mode, { durability: 'strict' })
    // `done` is awaited below, unless `work` throws before.
    tx.done.catch(() => undefined)
    const value = await work(tx)
    await tx.done
    return value
  } catch (error) {
    // A request in an aborted transaction does not have the reason. The transaction does.
    const cause = tx?.error ?? error
    abort(tx)
    throw storageError(SessionError.isInstance(error) ? error : cause, 'The browser failed to store or read the session')
  }
}

function abort(tx: { abort(): void } | undefined): void {
  try {
    tx?.abort()
  } catch {
    // The transaction had already ended.
  }
}

function allOf(sessionId: string): IDBKeyRange {
  // In IndexedDB keys, an array sorts after every number.
  return IDBKeyRange.bound([sessionId], [sessionId, []])
}

type Reading = Transaction<'readonly'> | Transaction<'readwrite'>

function allLines(tx: Reading, sessionId: string, onProgress?: () => void): Promise<string[]> {
  return linesIn(tx, [sessionId], [sessionId, []], onProgress)
}

/** Yields the lines between two keys, a few hundred at a time. */
async function linesIn(tx: Reading, from: IDBValidKey, to: IDBValidKey, onProgress?: () => void): Promise<string[]> {
  const lines: string[] = []
  let range = IDBKeyRange.bound(from, to)
  for (;;) {
    const rows = await tx.objectStore('records').getAll(range, rowsAtOnce)
    for (const { text } of rows) lines.push(text)
    onProgress?.()
    const last = rows.length < rowsAtOnce ? undefined : rows.at(-1)
    if (last === undefined) return lines
    range = IDBKeyRange.bound([last.sid, last.epoch, last.seq], to, true)
  }
}

/** Reads one epoch after another, and only the requested lines of each. */
async function linesAfter(tx: Transaction<'readonly'>, sessionId: string, after: number, onProgress?: () => void): Promise<string[]> {
  const records = tx.objectStore('records')
  const lines: string[] = []
  let cursor = await records.openKeyCursor(allOf(sessionId))
  while (cursor !== null) {
    const epoch = cursor.primaryKey[1]
    for (const line of await linesIn(tx, [sessionId, epoch, after + 1], [sessionId, epoch, []], onProgress)) lines.push(line)
    cursor = await records.openKeyCursor(IDBKeyRange.bound([sessionId, epoch, []], [sessionId, []]))
  }
  return lines
}

async function newestBlob(tx: Transaction<'readonly'>, sid: string, hash: string): Promise<BlobRow | undefined> {
  const range = IDBKeyRange.bound([sid, hash], [sid, hash, []])
  return (await tx.objectStore('blobs').openCursor(range, 'prev'))?.value
}

/** Uses keys, so that the bytes are not read. */
async function removeBlobs(
  tx: Transaction<'readwrite'>,
  sid: string,
  isRemoved: (key: [string, string, number]) => boolean,
): Promise<void> {
  const blobs = tx.objectStore('blobs')
  const removed = (await blobs.getAllKeys(allOf(sid))).filter(isRemoved)
  await Promise.all(removed.map((key) => blobs.delete(key)))
}

/** Returns the next list position with a matching time, even if the clock was set back. */
async function nextPlace(tx: Transaction<'readwrite'>, row: SessionRow): Promise<{ order: number; at: number }> {
  const { order: newest = 0, lastActiveAt = 0 } = (await tx.objectStore('sessions').index('order').openCursor(null, 'prev'))?.value ?? {}
  return { order: row.order === newest ? newest : newest + 1, at: Math.max(Date.now(), lastActiveAt) }
}

/** Uses `add`, never `put`, so that nothing is overwritten. The transaction reports the outcome. */
function addLines(tx: Transaction<'readwrite'>, sid: string, lines: readonly LogLine[]): void {
  const records = tx.objectStore('records')
  for (const { epoch, seq, text } of lines) records.add({ sid, epoch, seq, text }).catch(() => undefined)
}

/** Reads only the rows of one page. */
async function summariesAfter(tx: Transaction<'readonly'>, { agentId, after }: LogQuery, limit: number): Promise<SessionSummary[]> {
  const last = after && (await tx.objectStore('sessions').get(after.sessionId))
  // If the session was active or deleted in the meantime, its position is lost, so its time is used.
  const isThere = last?.order !== undefined && last.lastActiveAt === after?.lastActiveAt
  const range = isThere ? IDBKeyRange.upperBound(last.order, true) : null
  const summaries: SessionSummary[] = []
  let cursor = await tx.objectStore('sessions').index('order').openCursor(range, 'prev')
  while (cursor !== null && summaries.length < limit) {
    const summary = summaryOf(cursor.value)
    const isAfter = isThere || after === undefined || summary.lastActiveAt <= after.lastActiveAt
    if (isAfter && (agentId === undefined || (summary.error === undefined && summary.agentId === agentId))) summaries.push(summary)
    cursor = await cursor.continue()
  }
  return summaries
}

function summaryOf({ sid, agentId, createdAt, lastActiveAt, digest = { loops: 0, messages: 0 } }: SessionRow): SessionSummary {
  const times = { createdAt: createdAt ?? 0, lastActiveAt: lastActiveAt ?? 0 }
  if (typeof agentId === 'string') return { ...digest, sessionId: sid, agentId, ...times }
  const message = `The list entry of session ${sid} is unreadable. Delete the session, or open it again.`
  return { sessionId: sid, agentId: '', ...times, loops: 0, messages: 0, error: { code: 'io', message } }
}

function takenOver({ sessionId, epoch }: LogClaim): SessionError {
  return new SessionError(
    'conflict',
    `Cannot write session ${sessionId} (epoch ${epoch}): another tab took it over or deleted it. Reopen it to continue.`,
  )
}
