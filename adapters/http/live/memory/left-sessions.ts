import type { SessionStore } from '../../../../src/index.ts'
import { circleGuard, placeInScope } from '../../../../src/internal.ts'
import { SessionError, type SessionPage } from '../../../../src/session.ts'
import type { SessionListOptions } from '../../../../src/types/session/session-store.ts'
import type { SessionAddress } from '../../access/authorize.ts'
import { leaving, ProblemError } from '../../access/problem.ts'

/** Sessions per page. */
const pageSize = 100

/** Maximum runs to resume concurrently. */
const atOnce = 8

/** Yields all owners' sessions whose run was, or may have been, interrupted. Filters in the store if supported. */
export async function* leftSessions(store: Pick<SessionStore, 'list'>): AsyncGenerator<SessionAddress, void, undefined> {
  const checkCircle = circleGuard()
  let cursor: string | undefined
  do {
    const page = await store.list({ status: 'running', limit: pageSize, ...(cursor !== undefined && { cursor }) })
    for (const summary of page.sessions) {
      const place = placeInScope(summary)
      if (place === undefined) continue
      yield { sessionId: place.sessionId, ...(place.owner !== undefined && { identity: place.owner }) }
    }
    cursor = page.nextCursor
    checkCircle(cursor, false)
  } while (cursor !== undefined)
}

/** Lists a page of all owners' sessions. Separates each owner from the session id. */
export async function listOfAll(store: Pick<SessionStore, 'list'>, page: SessionListOptions): Promise<SessionPage> {
  const { sessions, nextCursor } = await store.list(page)
  const placed = sessions.flatMap((summary) => {
    const place = placeInScope(summary)
    const { owner: _, ...rest } = summary
    return place === undefined ? [] : [{ ...rest, ...place }]
  })
  return { sessions: placed, ...(nextCursor !== undefined && { nextCursor }) }
}

/** Resumes sessions, a few concurrently, until `isOver`. Resolves with the number of active runs. `takeOver` never rejects. */
export async function claimAll(
  addresses: readonly SessionAddress[],
  takeOver: (address: SessionAddress) => Promise<boolean>,
  isOver: () => boolean,
): Promise<number> {
  let begun = 0
  const rest = addresses.values()
  const lane = async (): Promise<void> => {
    for (const address of rest) {
      if (isOver()) return
      if (await takeOver(address)) begun += 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, lane))
  return begun
}

/**
 * Returns whether a retry may succeed, because the store did not respond, another process was faster, or the session was being evicted.
 */
export function mayWorkLater(error: unknown): boolean {
  if (SessionError.isInstance(error)) return error.code === 'io' || error.code === 'conflict'
  return error instanceof ProblemError && error.problem === leaving
}
