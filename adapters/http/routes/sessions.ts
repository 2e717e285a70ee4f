import type { Context, Env, Hono } from 'hono'
import { parsedJson } from '../../../src/base/json/json-value.ts'
import { fieldIn } from '../../../src/contract/json.ts'
import { ConfigError } from '../../../src/index.ts'
import type { Caller, SessionAddress } from '../access/authorize.ts'
import { type BodyLimits, readLastMessages, readSharedText } from '../access/body.ts'
import { refuse } from '../access/problem.ts'
import { gatewayWith } from '../live/gateway/command-handlers.ts'
import type { LiveSessions, SessionRoutes } from '../live/live-sessions.ts'
import { contextFrom, contextRequest, type MakeContext, type StartContext } from '../live/run-context.ts'
import { pageAsked, refuseCursor } from './history-routes.ts'

/** Options for these routes. */
interface SessionsOptions<E extends Env> {
  access: (c: Context<E>) => Promise<Caller>
  sessions: (c: Context<E>) => LiveSessions
  /** Handles requests for a session in this process. */
  routes: SessionRoutes
  context?: MakeContext<E> | undefined
  body: BodyLimits
}

/** Adds `GET /sessions` and everything under `/sessions/:id`, with authentication. */
export function addSessions<E extends Env>(app: Hono<E>, { access, sessions, routes, context, body }: SessionsOptions<E>): void {
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
  const inSession = (c: Context<E>, address: SessionAddress, request: Request): Promise<Response> =>
    fetchIn(sessions(c), { address, request, routes, c, context })
  /** Routes for clients that send the conversation id in the body. */
  const ofBody = async (c: Context<E>, path: string, name: string) => {
    const caller = await access(c)
    // The AI SDK sends the whole conversation by default, but only its last message is used.
    const text = path === '/chat' ? await readLastMessages(c, body) : await readSharedText(c, body)
    const { headers, signal } = c.req.raw
    const request = new Request(new URL(path, c.req.url), { method: 'POST', headers, signal, body: text })
    return inSession(c, { ...caller, sessionId: idIn(text, name) }, request)
  }
  const ofChat = async (c: Context<E>, path: string) => {
    const caller = await access(c)
    return inSession(c, { ...caller, sessionId: c.req.param('id') ?? '' }, await requestWithin(c.req.raw, path))
  }
  app.all('/sessions/:id/:rest{.*}?', async (c) => {
    const caller = await access(c)
    return inSession(c, { ...caller, sessionId: c.req.param('id') ?? '' }, await requestWithin(c.req.raw, restOf(c)))
  })
}

/** A request for one session, and the source of its runs' context. */
interface SessionRequest<E extends Env> {
  address: SessionAddress
  request: Request
  routes: SessionRoutes
  c: Context<E>
  context: MakeContext<E> | undefined
}

/** Passes a request to its session's host. Throws `ConfigError` if this host does not accept the app's context. */
export async function fetchIn<E extends Env>(
  host: LiveSessions,
  { address, request, routes, c, context }: SessionRequest<E>,
): Promise<Response> {
  if (context === undefined) return host.fetch(address, request, routes)
  if (host.contextFrom === undefined)
    throw new ConfigError('invalidOption', 'context has no effect on these sessions. Define the method context of their object instead.')
  const start: StartContext = () => contextFrom(context, c, contextRequest('start', address))
  return host.fetch(address, request, (each, gateway) => routes(each, gatewayWith(gateway, start)))
}

/** Returns a request's host, connected to the app's contexts for runs without a request. */
export function hostIn<E extends Env>(
  sessions: LiveSessions | ((c: Context<E>) => LiveSessions),
  context: MakeContext<E> | undefined,
): (c: Context<E>) => LiveSessions {
  const connected = (host: LiveSessions): LiveSessions => {
    if (context !== undefined) host.contextFrom?.((start) => contextFrom(context, undefined, start))
    return host
  }
  if (typeof sessions === 'function') return (c) => connected(sessions(c))
  connected(sessions)
  return () => sessions
}

/** Returns the session id in a body. The session's routes validate the rest. */
function idIn(text: string, name: string): string {
  const id = fieldIn(parsedJson(text), name)
  if (typeof id !== 'string') refuse(400, 'invalidBody', `The body must be JSON with ${name}, the conversation id.`)
  return id
}

/**
 * Returns the encoded path after the id, because call ids may contain slashes, which the session's routes decode.
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
  // Firefox does not expose a request body as a stream.
  const { method, headers, signal } = request
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(url, { method, headers, signal, ...(hasBody && { body: await request.arrayBuffer() }) })
}
