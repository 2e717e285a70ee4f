import { SessionError } from '../../contract/errors.ts'
import { checkSession } from '../../contract/session/read-session.ts'
import type { Session } from '../../contract/session/session.ts'
import type { LogDamage } from '../../contract/session/session-record.ts'
import type { LogClaim, LogDriver, LogQuery, SessionStore, SessionTail } from '../../types/session/session-store.ts'
import { sessionJournal } from '../journal/session-journal.ts'
import { recordsOf, sessionOf } from '../views/session-tree.ts'
import { digestOf, toTitle } from './digest.ts'
import { openInTime } from './open-in-time.ts'
import { type LogReading, readLog } from './read-log.ts'
import { encodeRecord } from './record-codec.ts'
import { salvageSession } from './salvage.ts'
import { listIds, listPage } from './session-list.ts'
import { LogSessionWriter, sessionErrorOf } from './session-writer.ts'

const idForm = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/

/**
 * Throws `SessionError` `invalidId` unless `id` is one a store may use: `[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}`. Such an id is also a safe
 * file name and storage key. For every `SessionStore`.
 */
export function assertSessionId(id: string): void {
  if (typeof id === 'string' && idForm.test(id)) return
  const shown = JSON.stringify(String(id).slice(0, 40))
  throw new SessionError(
    'invalidId',
    `Session id ${shown} is not allowed. Use 1 to 200 characters of A-Z a-z 0-9 . _ -, the first one not a dot.`,
  )
}

/**
 * A `SessionStore` over what a platform does for it.
 *
 * **Contract**
 * - `open` of a log that a newer version has written rejects with `newerSchema`, and so does `save`. Whoever wrote it must open it again.
 * - `save` replaces a session as a whole or not at all. Records that this version does not know stay. What is no session it rejects with
 *   `invalidSession` and the path of what is wrong, before it claims anything.
 * - `load` gives what can be read; what could not is in `tail(…).damage`. It rejects with `invalidSession` when that is nothing.
 * - A log that nobody of this version can read at all rejects `load` with `newerSchema`.
 * - Failures of the driver that are no `SessionError` become one with code `io`.
 *
 * Source: docs/concepts/sessions.md
 */
export function logSessionStore(driver: LogDriver): SessionStore {
  const find = (query: LogQuery) => attempt('The list of sessions', () => driver.list(query))
  return {
    promises: driver.promises,
    open: async (sessionId, { agentId }) => {
      assertSessionId(sessionId)
      const { claim, reading } = await claimLog(driver, sessionId, agentId)
      return new LogSessionWriter(driver, claim, reading)
    },
    tail: async (sessionId, { after = 0 } = {}) => {
      assertSessionId(sessionId)
      return tailOf(driver, await readSession(driver, sessionId, after))
    },
    load: async (sessionId) => {
      assertSessionId(sessionId)
      const reading = await readSession(driver, sessionId, 0)
      if (reading.records.length > 0) return sessionOf(reading.records, sessionId)
      const { kind: found, reason = 'it has no records.' } = reading.damage ?? {}
      throw new SessionError(
        found === 'newerSchema' ? found : 'invalidSession',
        `Nothing of session ${sessionId} can be read: ${reason} salvage reads what is behind a damaged record.`,
      )
    },
    salvage: async (sessionId) => {
      assertSessionId(sessionId)
      return salvageSession(await linesOf(driver, sessionId, 0), sessionId)
    },
    save: async (session) => {
      assertSessionId(checkSession(session).sessionId)
      await saveSession(driver, session)
    },
    // Of the store it is called on: one that wraps this one may open in another way.
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

async function readSession(driver: LogDriver, sessionId: string, after: number): Promise<LogReading> {
  return readLog(drained([...(await linesOf(driver, sessionId, after))]), after)
}

/** Lines that are let go as they are read: of a long session there is no room for the text beside what it says. */
function* drained(lines: string[]): Generator<string> {
  for (const [at, line] of lines.entries()) {
    lines[at] = ''
    yield line
  }
}

async function linesOf(driver: LogDriver, sessionId: string, after: number): Promise<readonly string[]> {
  const lines = await attempt(`Session ${sessionId}`, () => driver.read(sessionId, after))
  // A session exists with its first record, not when somebody has claimed it.
  if (lines === undefined || (after === 0 && lines.length === 0)) {
    throw new SessionError('notFound', `There is no session ${sessionId}. Use an id of listIds(), or open it to begin one.`)
  }
  return lines
}

async function claimLog(driver: LogDriver, sessionId: string, agentId: string): Promise<{ claim: LogClaim; reading: LogReading }> {
  const claiming = () => attempt(`Session ${sessionId}`, () => driver.claim(sessionId, agentId))
  const claim = await openInTime(`Session ${sessionId}`, claiming, (late) => driver.release(late))
  const lines = [...claim.lines]
  claim.lines = []
  const reading = readLog(drained(lines))
  if (!reading.hasNewer) return { claim, reading: { ...reading, ...damageOf(driver, reading) } }
  await attempt(`Session ${sessionId}`, () => driver.release(claim))
  throw new SessionError(
    'newerSchema',
    `Session ${sessionId} was written by a newer version of this package. Update it, or only read the session.`,
  )
}

/** Where older writers are refused, records that were replaced are none that anybody was promised. */
function damageOf({ promises }: LogDriver, { damage, replaced }: LogReading): { damage?: LogDamage } {
  const reported = damage ?? (promises.conflict === 'forked' ? replaced : undefined)
  return reported === undefined ? {} : { damage: reported }
}

function tailOf(driver: LogDriver, reading: LogReading): SessionTail {
  return { records: reading.records, cursor: reading.cursor, ...damageOf(driver, reading) }
}

async function saveSession(driver: LogDriver, session: Session): Promise<void> {
  // Before anything is awaited: what the caller changes from now on does not count.
  const records = recordsOf(session)
  const encoded = records.map(encodeRecord)
  const digest = digestOf(records)
  const { claim, reading } = await claimLog(driver, session.sessionId, session.agentId)
  const unknown = reading.records.filter((record) => record.entry.type === 'unknown')
  const writer = new LogSessionWriter(driver, claim, reading)
  try {
    await writer.replaceEncoded([...encoded, ...unknown.map(encodeRecord)], digest)
  } finally {
    await writer.close()
  }
}

async function renameSession(driver: LogDriver, sessionId: string, title: string): Promise<void> {
  const { agentId = '' } = digestOf((await readSession(driver, sessionId, 0)).records)
  const { claim, reading } = await claimLog(driver, sessionId, agentId)
  const writer = new LogSessionWriter(driver, claim, reading)
  try {
    await writer.append([{ entry: { type: 'title', title } }])
  } finally {
    await writer.close()
  }
}
