import { join } from 'node:path'
import { isAsked } from '../../../../src/internal.ts'
import type { LogQuery, SessionDigest, SessionSummary } from '../../../../src/session.ts'
import { type FileOperations, sessionFailure } from '../file-operations.ts'
import { sessionIdOf } from '../folder-name.ts'
import { isAbsent, withEpochs } from '../log/epoch-files.ts'
import { isSameEnd, type KnownEnd, type KnownEnds, type ListIndex } from './list-index.ts'
import { endOf, type LogEnd, type SummaryFiles } from './session-summary.ts'

const foldersAtOnce = 32

/** How many sessions a list remembers what it told of. */
const remembered = 1000

const noneMoved: ReadonlySet<string> = new Set()

/** What was told of sessions, so that the next list need not read those that have not changed. */
export type KnownDigests = Map<string, { end: string; digest: SessionDigest }>

/** For how long the pages of a list come from one look at the folders, in ms. */
const scanMs = 10_000

/** What the page before was taken from. */
export interface Scan {
  found?: { sessions: readonly Found[]; at: number } | undefined
}

/** A session, and where it is. */
interface Place {
  sessionId: string
  /** Of the folder. */
  name: string
  folder: string
}

/** A session that is there, and when it was written. */
export interface Found extends Place {
  lastActiveAt: number
  /** Where it ends; absent where that could not be read. */
  end?: KnownEnd
  /** Whether only the index says so. */
  isIndexed?: boolean
  error?: unknown
}

/** What a list needs. */
interface Listing {
  operations: FileOperations
  root: string
  /** Ids in the order of their last record, which decides between files of the same time: the last one is the newest. */
  written: readonly string[]
  known: KnownDigests
  summaries: SummaryFiles
  index: ListIndex
  scan: Scan
}

/** A part of a list, and the sessions in it that do not end where the index says. */
interface Page {
  summaries: SessionSummary[]
  moved: Found[]
}

/**
 * What is stored below `root`, the most recently written first.
 *
 * **Contract**
 * - Looks into the folders that no index tells of, and those that were written since, for the first page; the next pages go on from that look for
 *   10 s. What is written meanwhile is at the beginning of the list, which they do not show; what is deleted they leave out. Reads files only for
 *   the summaries it gives: of most a few hundred bytes. A list by `status` reads no session of which the index says that it stands otherwise.
 * - Every session that it gives was looked at. One that is not as the index says, because of somebody who did not use this driver, has its true place
 *   on the first page, and on others from the next list on.
 * - A session that cannot be read is listed with `error`, after all others where not even its time is known.
 */
export async function listSessions(listing: Listing, query: LogQuery): Promise<SessionSummary[]> {
  const goingOn = goesOn(listing.scan, query.after)
  const { summaries, moved } = goingOn === undefined ? await firstPage(listing, query) : await pageIn(listing, goingOn, query)
  // Where this cannot be noted, the next list finds it again.
  for (const { name } of moved) await listing.index.mark(name).catch(() => {})
  if (moved.length === 0 || query.after !== undefined) return summaries
  return (await firstPage(listing, query, new Set(moved.map(({ name }) => name)))).summaries
}

/** Looks at the folders, and at those of `moved` in any case. An index that is made of it says how those stand that were read. */
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

/** Whether a session has to be looked at to know whether it is asked for. */
function mayBeAsked({ sessionId, end }: Found, { status, idPrefix = '' }: LogQuery): boolean {
  return sessionId.startsWith(idPrefix) && (status === undefined || end?.status === undefined || end.status === status)
}

function placeOf(found: readonly Found[], after: LogQuery['after']): number {
  return after === undefined
    ? -1
    : found.findIndex((each) => each.sessionId === after.sessionId && each.lastActiveAt === after.lastActiveAt)
}

/** What the last look at the folders found, where a page goes on from one that was taken from it. */
function goesOn({ found }: Scan, after: LogQuery['after']): readonly Found[] | undefined {
  if (found === undefined || Math.abs(Date.now() - found.at) > scanMs || placeOf(found.sessions, after) < 0) return undefined
  return found.sessions
}

/** With the generation whose index is to be written of it, where it is worth one. */
async function findSessions(listing: Listing, { status }: LogQuery, moved: ReadonlySet<string>) {
  const { written, scan, index } = listing
  const at = Date.now()
  const places = await placesIn(listing)
  const isUnknown = ({ ends, marked }: KnownEnds, name: string) => moved.has(name) || marked.has(name) || !ends.has(name)
  let known = await index.read()
  // A list that cannot write an index is none the worse.
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

/** What an index is to say; nothing of what could not be read. */
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

/** `undefined` where nothing was recorded: the session was deleted, or only opened. */
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

/** `undefined` where it was deleted since it was found. */
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
    // A session without a loop has nothing that is left to do.
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
