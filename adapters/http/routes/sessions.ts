import type { Context, Env, Hono } from 'hono'
import { ConfigError } from '../../../src/index.ts'
import type { Caller } from '../access/authorize.ts'
import { type BodyLimits, readSharedText } from '../access/body.ts'
import { refuse } from '../access/problem.ts'
import type { LiveSessions, SessionRoutes } from '../live/live-sessions.ts'

/** What the routes have to know of their app. */
interface SessionsOptions<E extends Env> {
  access: (c: Context<E>) => Promise<Caller>
  sessions: (c: Context<E>) => LiveSessions
  /** What answers for a session that lives in this process. */
  routes: SessionRoutes
  body: BodyLimits
}

const maxPage = 200

/** `GET /sessions`, and everything under `/sessions/:id`, for whoever is let in. */
export function addSessions<E extends Env>(app: Hono<E>, { access, sessions, routes, body }: SessionsOptions<E>): void {
  app.get('/sessions', async (c) => {
    const caller = await access(c)
    const limit = limitOf(c.req.query('limit'))
    const cursor = c.req.query('cursor')
    if (cursor === undefined) return c.json(await sessions(c).list(caller, { limit }))
    return c.json(await sessions(c).list(caller, { limit, cursor }).catch(refuseCursor))
  })
  app.post('/chat', (c) => ofBody(c, '/chat', 'id'))
  app.post('/agui', (c) => ofBody(c, '/agui', 'threadId'))
  app.get('/chat/:id', (c) => ofChat(c, '/chat'))
  app.get('/chat/:id/stream', (c) => ofChat(c, '/chat/stream'))
  app.get('/chat/:id/turns', (c) => ofChat(c, '/chat/turns'))
  app.post('/chat/:id/stop', (c) => ofChat(c, '/stop'))
  app.post('/chat/:id/steer', (c) => ofChat(c, '/steer'))
  /** For clients that say in the body which conversation they are about. */
  const ofBody = async (c: Context<E>, path: string, name: string) => {
    const caller = await access(c)
    const text = await readSharedText(c, body)
    const { headers, signal } = c.req.raw
    const request = new Request(new URL(path, c.req.url), { method: 'POST', headers, signal, body: text })
    return sessions(c).fetch({ ...caller, sessionId: idIn(text, name) }, request, routes)
  }
  const ofChat = async (c: Context<E>, path: string) => {
    const caller = await access(c)
    return sessions(c).fetch({ ...caller, sessionId: c.req.param('id') ?? '' }, await within(c.req.raw, path), routes)
  }
  app.all('/sessions/:id/:rest{.*}?', async (c) => {
    const caller = await access(c)
    return sessions(c).fetch({ ...caller, sessionId: c.req.param('id') ?? '' }, await within(c.req.raw, restOf(c)), routes)
  })
}

/** What stands behind the id, as it was sent: an id of a call may have a slash in it, and the routes of the session decode it themselves. */
function restOf(c: Context): string {
  const depth = c.req.routePath.split('/').lastIndexOf(':id')
  return `/${new URL(c.req.url).pathname
    .split('/')
    .slice(depth + 1)
    .join('/')}`
}

/** The session that a body names. What else it says is looked at by the routes of that session. */
function idIn(text: string, name: string): string {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    body = undefined
  }
  const id: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
  if (typeof id !== 'string') refuse(400, 'invalidBody', `The body must be JSON with ${name}, which names the conversation.`)
  return id
}

/** The request as the routes of a session see it: what leads there is gone from its path. */
async function within(request: Request, path: string): Promise<Request> {
  const url = new URL(request.url)
  url.pathname = path
  if (request.body !== undefined) return new Request(url, request)
  // Firefox has no stream of a body that it could take along.
  const { method, headers, signal } = request
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(url, { method, headers, signal, ...(hasBody && { body: await request.arrayBuffer() }) })
}

/** Only the store knows the form of its cursors. */
function refuseCursor(error: unknown): never {
  if (ConfigError.isInstance(error) && error.code === 'invalidOption') refuse(400, 'invalidCursor', error.message)
  throw error
}

function limitOf(given: string | undefined): number {
  if (given === undefined) return 50
  const limit = Number(given)
  if (!Number.isInteger(limit) || limit < 1 || limit > maxPage)
    refuse(400, 'invalidBody', `limit must be a whole number from 1 to ${maxPage}.`)
  return limit
}
