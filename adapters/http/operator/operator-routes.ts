import type { Context, Env, Hono } from 'hono'
import type { Logger } from '../../../src/index.ts'
import type { SessionPage, SessionSummary } from '../../../src/session.ts'
import { type Authorize, callerOf } from '../access/authorize.ts'
import { refuse } from '../access/problem.ts'
import type { LiveSessions, SessionRoutes } from '../live/live-sessions.ts'
import { pageAsked, refuseCursor } from '../routes/history-routes.ts'
import { requestWithin, restOf } from '../routes/sessions.ts'

/** A session of somebody, as an operator sees it in a list. */
export interface OperatorSession extends Omit<SessionSummary, 'owner'> {
  /** Whose it is; absent for the only user of a server. */
  identity?: string
}

/** Some of the sessions of everybody, the most recently active first. */
export interface OperatorPage {
  sessions: OperatorSession[]
  nextCursor?: string
}

interface OperatorOptions<E extends Env> {
  /** Without it nobody is an operator, and the routes are not there. */
  authorize: Authorize<E> | undefined
  sessions: (c: Context<E>) => LiveSessions
  routes: SessionRoutes
  /** Learns of what operators look at, and do. */
  logger: Logger | false | undefined
}

/**
 * What an operator sees and does across users: `GET /operator/sessions`, and of one session everything that is read, and `…/stop`.
 *
 * **Contract**: `authorize` alone lets in; who is let in here sees what everybody has said.
 */
export function addOperator<E extends Env>(app: Hono<E>, { authorize, sessions, routes, logger }: OperatorOptions<E>): void {
  if (authorize === undefined) return
  app.get('/operator/sessions', async (c) => {
    await callerOf(c, authorize)
    const host = sessions(c)
    if (host.listAll === undefined)
      refuse(404, 'notFound', 'This server cannot list the sessions of everybody: each user has a store of its own.')
    return c.json(shown(await host.listAll(pageAsked(c)).catch(refuseCursor)))
  })
  app.all('/operator/sessions/:id/:rest{.*}?', async (c) => {
    const { identity: by } = await callerOf(c, authorize)
    const owner = c.req.query('identity')
    const address = { sessionId: c.req.param('id') ?? '', ...(owner !== undefined && { identity: owner }) }
    const path = restOf(c)
    const isStop = c.req.method === 'POST' && path === '/stop'
    if (c.req.method !== 'GET' && !isStop) refuse(404, 'notFound', 'An operator reads, and stops runs with POST …/stop.')
    if (logger !== false) logger?.info?.('operator', { action: isStop ? 'stop' : 'read', ...address, ...(by !== undefined && { by }) })
    return sessions(c).fetch(address, await requestWithin(c.req.raw, path), routes)
  })
}

/** As an operator sees it. */
function shown({ sessions, nextCursor }: SessionPage): OperatorPage {
  const all = sessions.map(({ owner, ...rest }) => ({ ...rest, ...(owner !== undefined && { identity: owner }) }))
  return { sessions: all, ...(nextCursor !== undefined && { nextCursor }) }
}
