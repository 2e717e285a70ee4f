import type { Context, Env, Hono } from 'hono'
import type { Logger } from '../../../src/index.ts'
import { sessionStatus } from '../../../src/internal.ts'
import type { SessionSummary } from '../../../src/session/index.ts'
import { type Authorize, callerOf } from '../access/authorize.ts'
import { refuse } from '../access/problem.ts'
import type { LiveSessions, SessionRoutes } from '../live/live-sessions.ts'
import { limitOf, refuseCursor } from '../routes/page-query.ts'
import { requestWithin, restOf } from '../routes/request-within.ts'

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

/** How much of a list is looked through for one answer where only some statuses are asked for. */
const pagesAtMost = 10

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
    const status = statusOf(c.req.query('status'))
    const limit = limitOf(c.req.query('limit'))
    return c.json(await pageOf(host.listAll.bind(host), { limit, status, cursor: c.req.query('cursor') }).catch(refuseCursor))
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

type ListAll = NonNullable<LiveSessions['listAll']>
interface PageQuery {
  limit: number
  status: string | undefined
  cursor: string | undefined
}

async function pageOf(listAll: ListAll, { limit, status, cursor }: PageQuery): Promise<OperatorPage> {
  const sessions: OperatorSession[] = []
  let next = cursor
  for (let page = 0; page < pagesAtMost; page++) {
    const found = await listAll({ limit: limit - sessions.length, ...(next !== undefined && { cursor: next }) })
    const asked = found.sessions.filter((each) => status === undefined || each.status === status)
    sessions.push(...asked.map(({ owner, ...rest }) => ({ ...rest, ...(owner !== undefined && { identity: owner }) })))
    next = found.nextCursor
    if (next === undefined || sessions.length >= limit) break
  }
  return { sessions, ...(next !== undefined && { nextCursor: next }) }
}

function statusOf(given: string | undefined): string | undefined {
  const words: readonly string[] = sessionStatus.words
  if (given !== undefined && !words.includes(given)) refuse(400, 'invalidBody', `status must be one of ${words.join(', ')}.`)
  return given
}
