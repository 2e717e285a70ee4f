import { SessionError } from '../../contract/errors.ts'
import { checkSession } from '../../contract/session/read-session.ts'
import { type Session, sessionId } from '../../contract/session/session.ts'
import type { LogDamage } from '../../contract/session/session-record.ts'
import { checkOptions, fits } from '../../contract/shape/read.ts'
import { aFunction, options as optionsOf, wholeFrom, withMethods } from '../../contract/shape/shape.ts'
import type {
  LogClaim,
  LogDriver,
  LogQuery,
  SessionOpenOptions,
  SessionStore,
  SessionTail,
  SessionTailOptions,
} from '../../types/session/session-store.ts'
import { sessionJournal } from '../journal/session-journal.ts'
import { encodeDetached } from '../media/detached.ts'
import { hashesIn, readBlob, withBytes } from '../media/kept-media.ts'
import { MediaKeeper } from '../media/media-keeper.ts'
import { recordsOf, sessionOf } from '../views/session-tree.ts'
import { digestOf, emptyDigest, toTitle } from './digest.ts'
import { openWithTimeout } from './open-with-timeout.ts'
import { LogReader, type LogReading } from './read-log.ts'
import { readClaimed, readStored } from './read-stored.ts'
import { salvageSession } from './salvage.ts'
import { listIds, listPage } from './session-list.ts'
import { LogSessionWriter, sessionErrorOf } from './session-writer.ts'

/**
 * Throws `SessionError` `invalidId` unless `id` matches `[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}`. Such an id is also a safe file name and
 * storage key. Every `SessionStore` uses it.
 */
export function assertSessionId(id: string): void {
  if (fits(sessionId, id)) return
  const shown = JSON.stringify(String(id).slice(0, 40))
  throw new SessionError('invalidId', `Invalid session id ${shown}: it must be ${sessionId.expected}.`)
}

const aDriver = withMethods('a log driver, such as memoryDriver()', 'claim', 'append', 'release', 'read', 'list', 'delete')

/**
 * Creates a `SessionStore` from a platform's `LogDriver`.
 *
 * **Contract**
 * - `open` and `save` reject with `newerSchema` for a log that a newer version has written. The writer must then reopen the session.
 * - `save` is atomic and keeps unknown records. For an invalid session, `save` rejects with `invalidSession` and a path before it claims
 *   the session.
 * - `load` returns the readable part of the log. `tail(…).damage` describes the rest. If nothing can be read, `load` rejects with
 *   `invalidSession`.
 * - `load` rejects with `newerSchema` if all lines are in a newer format.
 * - Other driver errors are wrapped in a `SessionError` with code `io`.
 *
 * Source: docs/concepts/sessions.md
 */
export function logSessionStore(driver: LogDriver): SessionStore {
  checkOptions(driver, aDriver, 'driver')
  const find = (query: LogQuery) => attempt('The list of sessions', () => driver.list(query))
  return {
    promises: { ...driver.promises, ...(driver.blobs !== undefined && { media: 'beside' }) },
    open: async (sessionId, options) => {
      assertSessionId(sessionId)
      return openLog(driver, sessionId, options)
    },
    tail: async (sessionId, options = {}) => {
      assertSessionId(sessionId)
      checkOptions(options, tailOptions)
      return tailOf(driver, await readTail(driver, sessionId, options))
    },
    blob: async (sessionId, hash) => {
      assertSessionId(sessionId)
      return attempt(`Session ${sessionId}`, () => readBlob(driver, sessionId, hash))
    },
    load: async (sessionId) => {
      assertSessionId(sessionId)
      const reading = await readSession(driver, sessionId, 0)
      if (reading.records.length > 0)
        return sessionOf(
          await attempt(`Session ${sessionId}`, () => withBytes((hash) => readBlob(driver, sessionId, hash), reading.records)),
          sessionId,
        )
      const { kind: found, reason = 'it has no records.' } = reading.damage ?? {}
      throw new SessionError(
        found === 'newerSchema' ? found : 'invalidSession',
        `Session ${sessionId} is unreadable: ${reason} Use salvage to read the records after a damaged one.`,
      )
    },
    salvage: async (sessionId) => {
      assertSessionId(sessionId)
      const { dropped, records: found } = salvageSession(await allLines(driver, sessionId), sessionId)
      const records = await attempt(`Session ${sessionId}`, () => withBytes((hash) => readBlob(driver, sessionId, hash), found))
      return { session: sessionOf(records, sessionId), records, dropped }
    },
    save: async (session) => {
      assertSessionId(checkSession(session).sessionId)
      await saveSession(driver, session)
    },
    // Call `open` through `this`, because a wrapping store may override it.
    journal(options) {
      return sessionJournal(this, options)
    },
    rename: async (sessionId, title) => {
      assertSessionId(sessionId)
      await renameSession(driver, sessionId, toTitle(title))
    },
    list: (options = {}) => listPage(find, options),
    listIds: () => listIds(find),
    listForAgent: (agentId) => listIds(find, agentId),
    delete: async (sessionId) => {
      assertSessionId(sessionId)
      return attempt(`Session ${sessionId}`, () => driver.delete(sessionId))
    },
  }
}

async function attempt<T>(subject: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    throw sessionErrorOf(error, subject)
  }
}

const tailOptions = optionsOf<SessionTailOptions>({ after: wholeFrom(0), last: wholeFrom(1), onProgress: aFunction })

/** Reads the records after a sequence number, or only the end of them. */
async function readTail(driver: LogDriver, sessionId: string, { after = 0, last, onProgress }: SessionTailOptions): Promise<LogReading> {
  if (last === undefined) return readSession(driver, sessionId, after, onProgress)
  const end = await attempt(`Session ${sessionId}`, async () => driver.lastSeq?.(sessionId))
  const from = Math.max(after, (end ?? 0) - last)
  const reading = await readSession(driver, sessionId, from, onProgress)
  // Ignore lines from a rejected writer, which may be the last lines in the log.
  const isShort = from > after && reading.records.length < last
  const whole = isShort ? await readSession(driver, sessionId, after, onProgress) : reading
  return { ...whole, records: whole.records.slice(-last) }
}

async function readSession(driver: LogDriver, sessionId: string, after: number, onProgress?: () => void): Promise<LogReading> {
  // A driver that skips known lines may have skipped too many. Then the whole log is read.
  for (let from = after; ; from = 0) {
    const reader = new LogReader(after)
    const isEmpty = await eachLine(driver, sessionId, from, (line) => reader.add(line), onProgress)
    // A session exists once its first record is stored, not once it is claimed.
    if (after === 0 && isEmpty) throw notFound(sessionId)
    const reading = reader.end()
    if (from === 0 || !reading.isBroken) return reading
  }
}

/** Reads the whole log if it ends before the cursor. Lines that an older writer adds after the claim do not count. */
async function readAgain(driver: LogDriver, sessionId: string, claimed: LogReading, onProgress: () => void): Promise<LogReading> {
  const reader = new LogReader(0)
  await readStored(driver, sessionId, 0, (line) => reader.add(line), onProgress)
  const { reached, damage } = claimed
  const records = reader.end().records.filter(({ seq }) => seq <= reached)
  return {
    ...claimed,
    records,
    passed: emptyDigest,
    cursor: reached,
    ...(damage !== undefined && { damage: { ...damage, afterSeq: reached } }),
  }
}

async function allLines(driver: LogDriver, sessionId: string): Promise<string[]> {
  const lines: string[] = []
  if (await eachLine(driver, sessionId, 0, (line) => lines.push(line))) throw notFound(sessionId)
  return lines
}

/** Calls `use` with the stored lines and resolves to whether there are none. Rejects with `notFound` for an unknown session. */
async function eachLine(
  driver: LogDriver,
  sessionId: string,
  after: number,
  use: (line: string) => void,
  onProgress?: () => void,
): Promise<boolean> {
  const isEmpty = await attempt(`Session ${sessionId}`, () => readStored(driver, sessionId, after, use, onProgress))
  if (isEmpty === undefined) throw notFound(sessionId)
  return isEmpty
}

function notFound(sessionId: string): SessionError {
  return new SessionError(
    'notFound',
    `Session ${sessionId} does not exist. Use an id from listIds(), or create it with open() or create: true in resumeAgent.`,
  )
}

/** Opens a writer that knows the existing records. */
async function openLog(driver: LogDriver, sessionId: string, options: SessionOpenOptions): Promise<LogSessionWriter> {
  const { agentId, after = 0, onProgress, mediaFrom } = options
  const { claim, reading } = await claimLog(driver, sessionId, agentId, { after, onProgress })
  if (driver.blobs === undefined) return new LogSessionWriter(driver, claim, reading)
  // Unread or damaged records may refer to blobs too.
  const isWhole = after === 0 && reading.damage === undefined && reading.replaced === undefined
  const isWholly = isWhole && driver.promises.readAfterWrite === 'immediate'
  const found = { hashes: hashesIn(reading.records), mediaFrom, collects: isWholly }
  return new LogSessionWriter(driver, claim, reading, new MediaKeeper(driver, claim, found))
}

async function claimLog(
  driver: LogDriver,
  sessionId: string,
  agentId: string,
  { after = 0, onProgress: reportProgress }: { after?: number; onProgress?: (() => void) | undefined } = {},
): Promise<{ claim: LogClaim; reading: LogReading }> {
  const claiming = (isLate: () => boolean, onProgress: () => void) =>
    attempt(`Session ${sessionId}`, async () => {
      const tell = () => {
        onProgress()
        reportProgress?.()
      }
      const claim = await driver.claim(sessionId, agentId, tell)
      const reading = await readClaimed(driver, claim, after, isLate, tell)
      return { claim, reading: reading.reached < after ? await readAgain(driver, sessionId, reading, tell) : reading }
    })
  const claimed = await openWithTimeout(`Session ${sessionId}`, claiming, (late) => driver.release(late.claim))
  const { claim, reading } = claimed
  if (!reading.hasNewer) return { claim, reading: { ...reading, ...damageOf(driver, reading) } }
  await attempt(`Session ${sessionId}`, () => driver.release(claim))
  throw new SessionError(
    'newerSchema',
    `Cannot write session ${sessionId}: a newer version of phi-core wrote it. Update phi-core, or only read the session.`,
  )
}

/** If the store refuses older writers, replaced records were never acknowledged and are no damage. */
function damageOf({ promises }: LogDriver, { damage, replaced }: LogReading): { damage?: LogDamage } {
  const reported = damage ?? (promises.conflict === 'forked' ? replaced : undefined)
  return reported === undefined ? {} : { damage: reported }
}

function tailOf(driver: LogDriver, reading: LogReading): SessionTail {
  return { records: reading.records, cursor: reading.cursor, ...damageOf(driver, reading) }
}

async function saveSession(driver: LogDriver, session: Session): Promise<void> {
  // Encode before any await, so that later changes by the caller have no effect.
  const records = recordsOf(session)
  const asIs = driver.blobs === undefined
  const encoded = records.map((record) => encodeDetached(record, asIs))
  const digest = digestOf(records)
  const writer = await openLog(driver, session.sessionId, { agentId: session.agentId })
  const unknown = writer.records.filter((record) => record.entry.type === 'unknown')
  try {
    await writer.replaceEncoded([...encoded, ...unknown.map((record) => encodeDetached(record, asIs))], digest)
  } finally {
    await writer.close()
  }
}

async function renameSession(driver: LogDriver, sessionId: string, title: string): Promise<void> {
  const { agentId = '' } = digestOf((await readSession(driver, sessionId, 0)).records)
  const writer = await openLog(driver, sessionId, { agentId })
  try {
    await writer.append([{ entry: { type: 'title', title } }])
  } finally {
    await writer.close()
  }
}
