import type { Context, Env, Hono } from 'hono'
import type { Logger } from '../../../src/index.ts'
import type { SessionPage, SessionSummary } from '../../../src/session.ts'
import { type Authorize, callerOf } from '../access/authorize.ts'
import { refuse } from '../access/problem.ts'
import type { LiveSessions, SessionRoutes } from '../live/live-sessions.ts'
import { pageAsked, refuseCursor } from '../routes/history-routes.ts'
import { requestWithin, restOf } from '../routes/sessions.ts'

/** A session in an operator's list. */
export interface OperatorSession extends Omit<SessionSummary, 'owner'> {
  /** Owner. Absent for a single user. */
  identity?: string
}

/** A page of all owners' sessions, most recently active first. */
export interface OperatorPage {
  sessions: OperatorSession[]
  nextCursor?: string
}

interface OperatorOptions<E extends Env> {
  /** Authenticates operators. If absent, the operator routes do not exist. */
  authorize: Authorize<E> | undefined
  sessions: (c: Context<E>) => LiveSessions
  routes: SessionRoutes
  /** Logs operator reads and commands. */
  logger: Logger | false | undefined
}

/**
 * Adds the operator routes: `GET /operator/sessions`, and for each session all reads and `…/stop`.
 *
 * **Contract**
 * - Only `authorize` decides. An operator can read all users' conversations.
 */
export function addOperator<E extends Env>(app: Hono<E>, { authorize, sessions, routes, logger }: OperatorOptions<E>): void {
  if (authorize === undefined) return
  app.get('/operator/sessions', async (c) => {
    await callerOf(c, authorize)
    const host = sessions(c)
    if (host.listAll === undefined) refuse(404, 'notFound', 'This server cannot list all sessions, because each user has a separate store.')
    return c.json(shown(await host.listAll(pageAsked(c)).catch(refuseCursor)))
  })
  app.all('/operator/sessions/:id/:rest{.*}?', async (c) => {
    const { identity: by } = await callerOf(c, authorize)
    const owner = c.req.query('identity')
    const address = { sessionId: c.req.param('id') ?? '', ...(owner !== undefined && { identity: owner }) }
    const path = restOf(c)
    const isStop = c.req.method === 'POST' && path === '/stop'
    if (c.req.method !== 'GET' && !isStop) refuse(404, 'notFound', 'Operators can only read, and stop runs with POST …/stop.')
    if (logger !== false) logger?.info?.('operator', { action: isStop ? 'stop' : 'read', ...address, ...(by !== undefined && { by }) })
    return sessions(c).fetch(address, await requestWithin(c.req.raw, path), routes)
  })
}

/** Converts a page for operators. */
function shown({ sessions, nextCursor }: SessionPage): OperatorPage {
  const all = sessions.map(({ owner, ...rest }) => ({ ...rest, ...(owner !== undefined && { identity: owner }) }))
  return { sessions: all, ...(nextCursor !== undefined && { nextCursor }) }
}
