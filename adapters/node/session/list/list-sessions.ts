import { join } from 'node:path'
import { isAsked } from '../../../../src/internal.ts'
import type { LogQuery, SessionDigest, SessionSummary } from '../../../../src/session.ts'
import { type FileOperations, sessionFailure } from '../file-operations.ts'
import { sessionIdOf } from '../folder-name.ts'
import { isAbsent, withEpochs } from '../log/epoch-files.ts'
import { isSameEnd, type KnownEnd, type KnownEnds, type ListIndex } from './list-index.ts'
import { endOf, type LogEnd, type SummaryFiles } from './session-summary.ts'

const foldersAtOnce = 32

/** Maximum number of sessions whose summaries are cached. */
const remembered = 1000

const noneMoved: ReadonlySet<string> = new Set()

/** Cached summaries, so that the next list reads only changed sessions. */
export type KnownDigests = Map<string, { end: string; digest: SessionDigest }>

/** Milliseconds for which the pages of a list share one inspection of the folders. */
const scanMs = 10_000

/** The inspection of the previous page. */
export interface Scan {
  found?: { sessions: readonly Found[]; at: number } | undefined
}

/** A session and its folder. */
interface Place {
  sessionId: string
  /** Modification time of the folder. */
  name: string
  folder: string
}

/** An existing session, and its modification time. */
export interface Found extends Place {
  lastActiveAt: number
  /** The session's end. Absent if unreadable. */
  end?: KnownEnd
  /** Whether the end comes only from the index. */
  isIndexed?: boolean
  error?: unknown
}

/** Context for a list. */
interface Listing {
  operations: FileOperations
  root: string
  /** Ids ordered by last record, newest last, to order files with the same time. */
  written: readonly string[]
  known: KnownDigests
  summaries: SummaryFiles
  index: ListIndex
  scan: Scan
}

/** A part of a list, and its sessions whose end differs from the index. */
interface Page {
  summaries: SessionSummary[]
  moved: Found[]
}

/**
 * Lists the sessions below `root`, most recently written first.
 *
 * **Contract**
 * - For the first page, inspects folders that are not in the index or were written since. Later pages reuse this inspection for 10 s.
 *   Sessions written in the meantime belong at the start of the list and are not listed again. Deleted sessions are omitted. Reads files
 *   only for the returned summaries: mostly a few hundred bytes. With `status`, skips sessions of another status in the index.
 * - Every returned session was inspected. If another writer changed a session, the first page shows it at its correct position immediately.
 *   Later pages do so starting with the next list.
 * - An unreadable session is listed with `error`. It is last if its time is unknown.
 */
export async function listSessions(listing: Listing, query: LogQuery): Promise<SessionSummary[]> {
  const goingOn = goesOn(listing.scan, query.after)
  const { summaries, moved } = goingOn === undefined ? await firstPage(listing, query) : await pageIn(listing, goingOn, query)
  // If recording fails, the next list detects the difference again.
  for (const { name } of moved) await listing.index.mark(name).catch(() => {})
  if (moved.length === 0 || query.after !== undefined) return summaries
  return (await firstPage(listing, query, new Set(moved.map(({ name }) => name)))).summaries
}

/** Inspects the folders, including those of `moved`. A resulting index contains the status of sessions that were read. */
async function firstPage(listing: Listing, query: LogQuery, moved = noneMoved): Promise<Page> {
  const { found, generation } = await findSessions(listing, query, moved)
  try {
    return await pageIn(listing, found, query)
  } finally {
    if (generation !== undefined) await listing.index.write(generation, endsOf(found)).catch(() => {})
  }
}

async function pageIn(
  listing: Listing,
  found: readonly Found[],
  { limit = Number.POSITIVE_INFINITY, after, ...asked }: LogQuery,
): Promise<Page> {
  const at = placeOf(found, after)
  const behind = at >= 0 ? found.slice(at + 1) : found.filter((each) => after === undefined || each.lastActiveAt <= after.lastActiveAt)
  const rest = behind.filter((each) => mayBeAsked(each, asked))
  const page: Page = { summaries: [], moved: [] }
  const atOnce = Math.min(foldersAtOnce, limit)
  for (let next = 0; next < rest.length && page.summaries.length < limit; next += atOnce) {
    const batch = await Promise.all(rest.slice(next, next + atOnce).map((each) => summaryOf(listing, each, page.moved)))
    for (const summary of batch) if (summary !== undefined && isAsked(summary, asked)) page.summaries.push(summary)
  }
  return { ...page, summaries: page.summaries.slice(0, limit) }
}

/** Returns whether a session must be inspected to determine if it matches. */
function mayBeAsked({ sessionId, end }: Found, { status, idPrefix = '' }: LogQuery): boolean {
  return sessionId.startsWith(idPrefix) && (status === undefined || end?.status === undefined || end.status === status)
}

function placeOf(found: readonly Found[], after: LogQuery['after']): number {
  return after === undefined
    ? -1
    : found.findIndex((each) => each.sessionId === after.sessionId && each.lastActiveAt === after.lastActiveAt)
}

/** Returns the last inspection, if a page continues from it. */
function goesOn({ found }: Scan, after: LogQuery['after']): readonly Found[] | undefined {
  if (found === undefined || Math.abs(Date.now() - found.at) > scanMs || placeOf(found.sessions, after) < 0) return undefined
  return found.sessions
}

/** Starts a generation if writing an index is worthwhile. */
async function findSessions(listing: Listing, { status }: LogQuery, moved: ReadonlySet<string>) {
  const { written, scan, index } = listing
  const at = Date.now()
  const places = await placesIn(listing)
  const isUnknown = ({ ends, marked }: KnownEnds, name: string) => moved.has(name) || marked.has(name) || !ends.has(name)
  let known = await index.read()
  // Ignore the failure, because lists work without an index.
  const isToRead = (name: string) => isUnknown(known, name) || (status !== undefined && known.ends.get(name)?.status === undefined)
  const generation = await index.begin(known, places.filter(({ name }) => isToRead(name)).length).catch(() => undefined)
  if (generation !== undefined) known = await index.read()
  const found: Found[] = []
  const unknown: Place[] = []
  for (const place of places) {
    const end = isUnknown(known, place.name) ? undefined : known.ends.get(place.name)
    if (end === undefined) unknown.push(place)
    else found.push({ ...place, lastActiveAt: end.modified, end, isIndexed: true })
  }
  found.push(...(await lookInto(listing.operations, unknown)))
  const order = new Map(written.map((sessionId, place) => [sessionId, place]))
  const rank = ({ sessionId }: Found) => order.get(sessionId) ?? -1
  found.sort((a, b) => b.lastActiveAt - a.lastActiveAt || rank(b) - rank(a))
  scan.found = { sessions: found, at }
  return { found, generation }
}

/** Returns the content of an index, without unreadable sessions. */
function endsOf(found: readonly Found[]): KnownEnds['ends'] {
  return new Map(found.flatMap(({ name, end }) => (end === undefined ? [] : [[name, end] as const])))
}

async function placesIn({ operations, root }: Listing): Promise<Place[]> {
  return (await namesIn(operations, root)).flatMap((name) => {
    const sessionId = sessionIdOf(name)
    return sessionId === undefined ? [] : [{ sessionId, name, folder: join(root, name) }]
  })
}

async function namesIn(operations: FileOperations, root: string): Promise<string[]> {
  try {
    return await operations.list(root)
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}

async function lookInto(operations: FileOperations, places: readonly Place[]): Promise<Found[]> {
  const found: Found[] = []
  for (let next = 0; next < places.length; next += foldersAtOnce) {
    const batch = places.slice(next, next + foldersAtOnce).map((place) => find(operations, place))
    for (const each of await Promise.all(batch)) if (each !== undefined) found.push(each)
  }
  return found
}

/** `undefined` if there are no records: the session was deleted, or only opened. */
async function find(operations: FileOperations, place: Place): Promise<Found | undefined> {
  const { folder } = place
  try {
    const end = await withEpochs(operations, folder, (files) => endOf(operations, folder, files))
    return end && { ...place, lastActiveAt: end.modified, end: endAt(end) }
  } catch (error) {
    const { modified } = await operations.stat(folder).catch(() => ({ modified: 0 }))
    return { ...place, lastActiveAt: modified, error }
  }
}

function endAt({ file, size, modified }: LogEnd): KnownEnd {
  return { name: file.name, size, modified }
}

/** `undefined` if it was deleted in the meantime. */
async function summaryOf(listing: Listing, found: Found, moved: Found[]): Promise<SessionSummary | undefined> {
  const { sessionId, lastActiveAt, error } = found
  if (error !== undefined) return unreadable(sessionId, lastActiveAt, error)
  try {
    const digest = await digestIn(listing, found, moved)
    return digest && { ...digest, sessionId, agentId: digest.agentId ?? '', createdAt: digest.createdAt ?? lastActiveAt, lastActiveAt }
  } catch (failure) {
    return unreadable(sessionId, lastActiveAt, failure)
  }
}

function digestIn({ operations, known, summaries }: Listing, found: Found, moved: Found[]): Promise<SessionDigest | undefined> {
  const { sessionId, folder, end: before, isIndexed } = found
  return withEpochs(operations, folder, async (files) => {
    const last = await endOf(operations, folder, files)
    const isAsFound = isSameEnd(before, last && endAt(last))
    if (isIndexed && !isAsFound) moved.push(found)
    if (last === undefined) return undefined
    const end = `${last.file.name} ${last.size} ${last.modified}`
    const cached = known.get(sessionId)
    const digest = cached?.end === end ? cached.digest : await summaries.digestOf(sessionId, folder, files, last)
    // A session without loops has no unfinished work.
    const status = digest.loops === 0 ? 'idle' : digest.status
    if (isAsFound && before !== undefined && status !== undefined) before.status = status
    known.delete(sessionId)
    known.set(sessionId, { end, digest })
    for (const oldest of known.keys()) {
      if (known.size <= remembered) break
      known.delete(oldest)
    }
    return digest
  })
}

function unreadable(sessionId: string, lastActiveAt: number, error: unknown): SessionSummary {
  const { code, message } = sessionFailure(error, `read session ${sessionId}`)
  return { sessionId, agentId: '', createdAt: 0, lastActiveAt, loops: 0, messages: 0, error: { code, message } }
}
