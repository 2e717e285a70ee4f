import { SessionError } from '../../contract/errors.ts'
import { type SessionStatus, sessionStatus } from '../../contract/session/session.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { aText, kind, options as optionsOf, wholeFrom } from '../../contract/shape/shape.ts'
import type { LogQuery, SessionDigest, SessionListOptions, SessionPage, SessionSummary } from '../../types/session/session-store.ts'

/** What a driver has, or more than it is asked for. */
type Find = (query: LogQuery) => Promise<SessionSummary[]>

/** Sessions of a page. */
export const defaultLimit = 50

const cursorForm = /^(\d+(?:\.\d+)?)\/([A-Za-z0-9._-]{1,200})$/

const listOptions = optionsOf<SessionListOptions>({
  agentId: aText,
  status: sessionStatus,
  idPrefix: aText,
  limit: wholeFrom(1),
  cursor: kind('the nextCursor of a page', (value) => typeof value === 'string' && cursorForm.test(value)),
})

/** One page of what is found. */
export async function listPage(find: Find, options: SessionListOptions): Promise<SessionPage> {
  checkOptions(options, listOptions)
  const { limit = defaultLimit, cursor, ...asked } = options
  const after = cursor === undefined ? undefined : readCursor(cursor)
  // One more than is shown says whether there is a next page.
  const found = await findEnough(find, { ...asked, limit: limit + 1, ...(after !== undefined && { after }) })
  const sessions = found.slice(0, limit)
  const last = sessions.at(-1)
  return { sessions, ...(found.length > limit && last !== undefined && { nextCursor: writeCursor(last) }) }
}

/** A driver need not know what is asked for: then it is asked for more, until there are enough. */
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

/** The ids of all sessions, or of those of one agent. */
export async function listIds(find: Find, agentId?: string): Promise<string[]> {
  const query = agentId === undefined ? {} : { agentId }
  return pageOf(await find(query), query).map(({ sessionId }) => sessionId)
}

/**
 * Of all summaries those that a query asks for, the most recently active first; what was active at the same time stays in its order. For a
 * driver that has them all at hand.
 */
export function pageOf(summaries: readonly SessionSummary[], { limit, after, ...asked }: LogQuery): SessionSummary[] {
  const sorted = summaries.toSorted((a, b) => b.lastActiveAt - a.lastActiveAt)
  const rest = after === undefined ? sorted : sorted.slice(startAfter(sorted, after))
  return rest.filter((each) => isAsked(each, asked)).slice(0, limit)
}

/** Whether a query asks for a session, wherever it is in the list. */
export function isAsked({ error, ...summary }: SessionSummary, { agentId, status, idPrefix = '' }: LogQuery): boolean {
  if (agentId !== undefined && (error !== undefined || summary.agentId !== agentId)) return false
  return (status === undefined || mayStand(summary, status)) && summary.sessionId.startsWith(idPrefix)
}

/** Of a session with a loop that an older version has listed nobody knows how it stands: rather one too many than a run that is never taken up. */
function mayStand({ loops, status }: Pick<SessionDigest, 'loops' | 'status'>, asked: SessionStatus): boolean {
  return status === asked || (status === undefined && loops > 0)
}

/** Where the summary that the page before ended with is no more, it has been active since or was deleted: rather one twice than one left out. */
function startAfter(sorted: readonly SessionSummary[], { sessionId, lastActiveAt }: NonNullable<LogQuery['after']>): number {
  const at = sorted.findIndex((each) => each.sessionId === sessionId && each.lastActiveAt === lastActiveAt)
  if (at >= 0) return at + 1
  const next = sorted.findIndex((each) => each.lastActiveAt <= lastActiveAt)
  return next < 0 ? sorted.length : next
}

/** How often one cursor may come where nothing else did: sessions that are deleted meanwhile may lead back once or twice. */
const repeatsAtMost = 3

/**
 * For who reads a list to its end: is told the cursor of each page, and whether the page had something new. Throws `SessionError` `io` where
 * the list goes in circles, as that of a driver does that shows a session twice or passes over cursors: it has no end of its own.
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
      `The list of the store has no end: it gave the cursor ${nextCursor} ${count} times, and nothing else. Its driver may list a session twice.`,
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
