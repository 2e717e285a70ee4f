import type { Context, Env, Hono } from 'hono'
import { parsedJson } from '../../../src/base/json/json-value.ts'
import { fieldIn } from '../../../src/contract/json.ts'
import type { Caller } from '../access/authorize.ts'
import { type BodyLimits, readLastMessages, readSharedText } from '../access/body.ts'
import { refuse } from '../access/problem.ts'
import type { LiveSessions, SessionRoutes } from '../live/live-sessions.ts'
import { pageAsked, refuseCursor } from './history-routes.ts'

/** Options of these routes. */
interface SessionsOptions<E extends Env> {
  access: (c: Context<E>) => Promise<Caller>
  sessions: (c: Context<E>) => LiveSessions
  /** Handles requests for a session in this process. */
  routes: SessionRoutes
  body: BodyLimits
}

/** Adds `GET /sessions` and everything under `/sessions/:id`, with authentication. */
export function addSessions<E extends Env>(app: Hono<E>, { access, sessions, routes, body }: SessionsOptions<E>): void {
  app.get('/sessions', async (c) => {
    const caller = await access(c)
    return c.json(await sessions(c).list(caller, pageAsked(c)).catch(refuseCursor))
  })
  app.post('/chat', (c) => ofBody(c, '/chat', 'id'))
  app.post('/agui', (c) => ofBody(c, '/agui', 'threadId'))
  app.get('/chat/:id', (c) => ofChat(c, '/chat'))
  app.get('/chat/:id/stream', (c) => ofChat(c, '/chat/stream'))
  app.get('/chat/:id/turns', (c) => ofChat(c, '/chat/turns'))
  app.post('/chat/:id/stop', (c) => ofChat(c, '/stop'))
  app.post('/chat/:id/steer', (c) => ofChat(c, '/steer'))
  /** For clients that name the conversation in the body. */
  const ofBody = async (c: Context<E>, path: string, name: string) => {
    const caller = await access(c)
    // The AI SDK sends the whole conversation by default, but only its last message is used.
    const text = path === '/chat' ? await readLastMessages(c, body) : await readSharedText(c, body)
    const { headers, signal } = c.req.raw
    const request = new Request(new URL(path, c.req.url), { method: 'POST', headers, signal, body: text })
    return sessions(c).fetch({ ...caller, sessionId: idIn(text, name) }, request, routes)
  }
  const ofChat = async (c: Context<E>, path: string) => {
    const caller = await access(c)
    return sessions(c).fetch({ ...caller, sessionId: c.req.param('id') ?? '' }, await requestWithin(c.req.raw, path), routes)
  }
  app.all('/sessions/:id/:rest{.*}?', async (c) => {
    const caller = await access(c)
    return sessions(c).fetch({ ...caller, sessionId: c.req.param('id') ?? '' }, await requestWithin(c.req.raw, restOf(c)), routes)
  })
}

/** Returns the session that a body names. The routes of that session check the rest. */
function idIn(text: string, name: string): string {
  const id = fieldIn(parsedJson(text), name)
  if (typeof id !== 'string') refuse(400, 'invalidBody', `The body must be JSON with ${name}, which names the conversation.`)
  return id
}

/**
 * Returns the encoded path after the id: the id of a call may contain a slash, and the routes of the session decode it
 * themselves.
 */
export function restOf(c: Context): string {
  const depth = c.req.routePath.split('/').lastIndexOf(':id')
  return `/${new URL(c.req.url).pathname
    .split('/')
    .slice(depth + 1)
    .join('/')}`
}

/** Returns the request with the path within its session. */
export async function requestWithin(request: Request, path: string): Promise<Request> {
  const url = new URL(request.url)
  url.pathname = path
  if (request.body !== undefined) return new Request(url, request)
  // Firefox has no stream of a request body.
  const { method, headers, signal } = request
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(url, { method, headers, signal, ...(hasBody && { body: await request.arrayBuffer() }) })
}
