import { SessionError } from '../../contract/errors.ts'
import { type SessionStatus, sessionStatus } from '../../contract/session/session.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aText, kind, options as optionsOf, wholeFrom } from '../../contract/shape/shape.ts'
import type { LogQuery, SessionDigest, SessionListOptions, SessionPage, SessionSummary } from '../../types/session/session-store.ts'

/** Queries a driver, which may return more than requested. */
type Find = (query: LogQuery) => Promise<SessionSummary[]>

/** Sessions per page. */
export const defaultLimit = 50

const cursorForm = /^(\d+(?:\.\d+)?)\/([A-Za-z0-9._-]{1,200})$/

const listOptions = optionsOf<SessionListOptions>({
  agentId: aText,
  status: sessionStatus,
  idPrefix: aText,
  limit: wholeFrom(1),
  cursor: kind('the nextCursor of a page', (value) => typeof value === 'string' && cursorForm.test(value)),
})

/** Returns one page of the found sessions. */
export async function listPage(find: Find, options: SessionListOptions): Promise<SessionPage> {
  checkOptions(options, listOptions)
  const { limit = defaultLimit, cursor, ...asked } = options
  const after = cursor === undefined ? undefined : readCursor(cursor)
  // Request one session more than the limit, to know whether there is a next page.
  const found = await findEnough(find, { ...asked, limit: limit + 1, ...(after !== undefined && { after }) })
  const sessions = found.slice(0, limit)
  const last = sessions.at(-1)
  return { sessions, ...(found.length > limit && last !== undefined && { nextCursor: writeCursor(last) }) }
}

/** Queries again with a larger limit if the driver ignores filters, until there are enough. */
async function findEnough(find: Find, query: LogQuery & { limit: number }): Promise<SessionSummary[]> {
  const enough: SessionSummary[] = []
  const checkCircle = circleGuard()
  for (let after = query.after; ; ) {
    const rest = { ...query, ...(after !== undefined && { after }) }
    const found = await find(rest)
    enough.push(...pageOf(found, rest))
    const { limit } = query
    const last = pageOf(found, { ...(after !== undefined && { after }) }).at(-1)
    if (enough.length >= limit || found.length !== limit || last === undefined) return enough.slice(0, limit)
    after = last
    checkCircle(writeCursor(last), false)
  }
}

/** Lists all session ids, or only those of one agent. */
export async function listIds(find: Find, agentId?: string): Promise<string[]> {
  const query = agentId === undefined ? {} : { agentId }
  return pageOf(await find(query), query).map(({ sessionId }) => sessionId)
}

/** Filters and sorts summaries for a query, most recently active first. Ties keep their order. For drivers that hold all summaries. */
export function pageOf(summaries: readonly SessionSummary[], { limit, after, ...asked }: LogQuery): SessionSummary[] {
  const sorted = summaries.toSorted((a, b) => b.lastActiveAt - a.lastActiveAt)
  const rest = after === undefined ? sorted : sorted.slice(startAfter(sorted, after))
  return rest.filter((each) => isAsked(each, asked)).slice(0, limit)
}

/** Returns whether a session matches the filters of a query. */
export function isAsked({ error, ...summary }: SessionSummary, { agentId, status, idPrefix = '' }: LogQuery): boolean {
  if (agentId !== undefined && (error !== undefined || summary.agentId !== agentId)) return false
  return (status === undefined || mayStand(summary, status)) && summary.sessionId.startsWith(idPrefix)
}

/** Older versions store no status. These sessions match, because an extra session is better than a run that is never recovered. */
function mayStand({ loops, status }: Pick<SessionDigest, 'loops' | 'status'>, asked: SessionStatus): boolean {
  return status === asked || (status === undefined && loops > 0)
}

/** If the last session of the previous page was deleted or active since then, repeats sessions instead of skipping some. */
function startAfter(sorted: readonly SessionSummary[], { sessionId, lastActiveAt }: NonNullable<LogQuery['after']>): number {
  const at = sorted.findIndex((each) => each.sessionId === sessionId && each.lastActiveAt === lastActiveAt)
  if (at >= 0) return at + 1
  const next = sorted.findIndex((each) => each.lastActiveAt <= lastActiveAt)
  return next < 0 ? sorted.length : next
}

/** Maximum times that a list may repeat a cursor without new sessions. Concurrent deletions can cause one or two. */
const repeatsAtMost = 3

/**
 * Returns a guard against endless lists. Call it with the cursor of each page and whether the page had new sessions. Throws
 * `SessionError` `io` if the list cycles, because a driver repeats sessions or ignores cursors.
 */
export function circleGuard(): (nextCursor: string | undefined, hasNews: boolean) => void {
  const times = new Map<string, number>()
  return (nextCursor, hasNews) => {
    if (hasNews) times.clear()
    if (nextCursor === undefined) return
    const count = (times.get(nextCursor) ?? 0) + 1
    times.set(nextCursor, count)
    if (count <= repeatsAtMost) return
    throw new SessionError(
      'io',
      `The session list never ends: the store returned the cursor ${nextCursor} ${count} times without new sessions. The driver may list a session twice.`,
    )
  }
}

function writeCursor({ sessionId, lastActiveAt }: SessionSummary): string {
  return `${lastActiveAt}/${sessionId}`
}

function readCursor(cursor: string): NonNullable<LogQuery['after']> {
  const [, time, sessionId = ''] = cursorForm.exec(cursor) ?? []
  return { sessionId, lastActiveAt: Number(time) }
}
