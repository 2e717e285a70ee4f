import { join } from 'node:path'
import type { LogQuery, SessionDigest, SessionSummary } from '../../../src/session/index.ts'
import { isAbsent, withEpochs } from './epoch-files.ts'
import type { FileOperations } from './file-operations.ts'
import { sessionIdOf } from './folder-name.ts'
import { sessionFailure } from './session-failure.ts'
import { endOf, type SummaryFiles } from './session-summary.ts'

const foldersAtOnce = 32

/** How many sessions a list remembers what it told of. */
const remembered = 1000

/** What was told of sessions, so that the next list need not read those that have not changed. */
export type KnownDigests = Map<string, { end: string; digest: SessionDigest }>

/** For how long the pages of a list come from one look at the folders, in ms. */
const scanMs = 10_000

/** What the page before was taken from. */
export interface Scan {
  found?: { sessions: readonly Found[]; at: number } | undefined
}

/** A session that is there, and when it was written. */
export interface Found {
  sessionId: string
  folder: string
  lastActiveAt: number
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
  scan: Scan
}

/**
 * What is stored below `root`, the most recently written first.
 *
 * **Contract**
 * - Looks into every folder for the first page; the next pages go on from that look for 10 s. What is written meanwhile is at the beginning of the
 *   list, which they do not show; what is deleted they leave out. Reads files only for the summaries it gives: of most a few hundred bytes.
 * - A session that cannot be read is listed with `error`, after all others where not even its time is known.
 */
export async function listSessions(listing: Listing, query: LogQuery): Promise<SessionSummary[]> {
  const { agentId, limit = Number.POSITIVE_INFINITY, after } = query
  const found = goesOn(listing.scan, after) ?? (await findSessions(listing))
  const at = placeOf(found, after)
  const rest = at >= 0 ? found.slice(at + 1) : found.filter((each) => after === undefined || each.lastActiveAt <= after.lastActiveAt)
  const summaries: SessionSummary[] = []
  const atOnce = Math.min(foldersAtOnce, limit)
  for (let next = 0; next < rest.length && summaries.length < limit; next += atOnce) {
    const batch = await Promise.all(rest.slice(next, next + atOnce).map((each) => summaryOf(listing, each)))
    const asked = batch.filter((each) => each !== undefined && (agentId === undefined || (!each.error && each.agentId === agentId)))
    for (const summary of asked) if (summary !== undefined) summaries.push(summary)
  }
  return summaries.slice(0, limit)
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

async function findSessions({ operations, root, written, scan }: Listing): Promise<Found[]> {
  const at = Date.now()
  const folders = (await namesIn(operations, root)).flatMap((name) => {
    const sessionId = sessionIdOf(name)
    return sessionId === undefined ? [] : [{ sessionId, folder: join(root, name) }]
  })
  const found: Found[] = []
  for (let at = 0; at < folders.length; at += foldersAtOnce) {
    const batch = folders.slice(at, at + foldersAtOnce).map(({ sessionId, folder }) => find(operations, sessionId, folder))
    for (const each of await Promise.all(batch)) if (each !== undefined) found.push(each)
  }
  const order = new Map(written.map((sessionId, index) => [sessionId, index]))
  const rank = ({ sessionId }: Found) => order.get(sessionId) ?? -1
  found.sort((a, b) => b.lastActiveAt - a.lastActiveAt || rank(b) - rank(a))
  scan.found = { sessions: found, at }
  return found
}

async function namesIn(operations: FileOperations, root: string): Promise<string[]> {
  try {
    return await operations.list(root)
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}

/** `undefined` where nothing was recorded: the session was deleted, or only opened. */
async function find(operations: FileOperations, sessionId: string, folder: string): Promise<Found | undefined> {
  try {
    const end = await withEpochs(operations, folder, (files) => endOf(operations, folder, files))
    return end && { sessionId, folder, lastActiveAt: end.modified }
  } catch (error) {
    const { modified } = await operations.stat(folder).catch(() => ({ modified: 0 }))
    return { sessionId, folder, lastActiveAt: modified, error }
  }
}

/** `undefined` where it was deleted since it was found. */
async function summaryOf(listing: Listing, { sessionId, folder, lastActiveAt, error }: Found): Promise<SessionSummary | undefined> {
  if (error !== undefined) return unreadable(sessionId, lastActiveAt, error)
  try {
    const digest = await digestIn(listing, sessionId, folder)
    return digest && { ...digest, sessionId, agentId: digest.agentId ?? '', createdAt: digest.createdAt ?? lastActiveAt, lastActiveAt }
  } catch (failure) {
    return unreadable(sessionId, lastActiveAt, failure)
  }
}

function digestIn({ operations, known, summaries }: Listing, sessionId: string, folder: string): Promise<SessionDigest | undefined> {
  return withEpochs(operations, folder, async (files) => {
    const last = await endOf(operations, folder, files)
    if (last === undefined) return undefined
    const end = `${last.file.name} ${last.size} ${last.modified}`
    const told = known.get(sessionId)
    const digest = told?.end === end ? told.digest : await summaries.digestOf(sessionId, folder, files, last)
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
