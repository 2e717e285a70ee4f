import type { SessionStore } from '../../../../src/index.ts'
import { circleGuard, placeInScope } from '../../../../src/internal.ts'
import type { SessionPage } from '../../../../src/session.ts'
import type { SessionListOptions } from '../../../../src/types/session/session-store.ts'
import type { SessionAddress } from '../../access/authorize.ts'

/** Sessions that are looked at together. */
const pageSize = 100

/** How many runs are taken up at the same time. */
const atOnce = 8

/** The sessions of `store` whose run was left, or may have been, whoever they belong to. Nothing else that is kept is looked at, where the store can tell. */
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

/** A page of the sessions of everybody, by the ids and owners that they have for them. */
export async function listOfAll(store: Pick<SessionStore, 'list'>, page: SessionListOptions): Promise<SessionPage> {
  const { sessions, nextCursor } = await store.list(page)
  const placed = sessions.flatMap((summary) => {
    const place = placeInScope(summary)
    const { owner: _, ...rest } = summary
    return place === undefined ? [] : [{ ...rest, ...place }]
  })
  return { sessions: placed, ...(nextCursor !== undefined && { nextCursor }) }
}

/** Takes them up, a few at the same time, until `isOver`. Resolves with how many are on again. `takeOver` never rejects. */
export async function takeUpAll(
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
