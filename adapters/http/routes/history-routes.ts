import type { Context } from 'hono'
import { headOf, percentEncoded } from '../../../src/base/text/characters.ts'
import { baseType } from '../../../src/contract/message/media.ts'
import { sessionStatus } from '../../../src/contract/session/session.ts'
import { ConfigError } from '../../../src/index.ts'
import { isWithheld } from '../../../src/internal.ts'
import type { Turn } from '../../../src/session.ts'
import { ProblemError, refuse, unknownSession } from '../access/problem.ts'
import type { HistoryQuery, StoredMedia } from '../live/gateway/session-gateway.ts'
import type { ListPage } from '../live/live-sessions.ts'
import type { PagedLoop } from '../live/read/history-page.ts'
import type { SessionApp, SessionContext, SessionRouteOptions } from './route-options.ts'

/**
 * Adds the routes for a session's history: `GET /` for the stored session, `GET /loops` in pages, `GET /history` for messages, and `GET
 * /blobs/:hash` for media that are stored separately.
 *
 * Source: docs/guides/serve-over-http.md
 */
export function addHistoryRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/', async (c) => {
    const read = await c.env.gateway.read.session()
    if (read === undefined) throw new ProblemError(unknownSession)
    const { session, ...running } = read
    return c.json({ session: { ...session, loops: shownLoops(c, session.loops, options) }, ...running })
  })
  app.get('/loops', async (c) => {
    const { limit, before } = c.req.query()
    const read = await c.env.gateway.read.loops({ limit: limitOf(limit), ...(before !== undefined && { before }) })
    if (read === undefined) throw new ProblemError(unknownSession)
    return c.json({ ...read, loops: shownLoops(c, read.loops, options) })
  })
  app.get('/history', async (c) => {
    const { clientCalls, queued, ...read } = await c.env.gateway.read.history(historyAsked(c))
    return c.json({ ...read, ...(clientCalls.length > 0 && { clientCalls }), ...(queued.length > 0 && { queued }) })
  })
  app.get('/blobs/:hash', async (c) => {
    const media = await c.env.gateway.read.media(c.req.param('hash'))
    if (media === undefined) refuse(404, 'notFound', 'The session has no such blob. Use the hash of a block in …/history?media=names.')
    const headers = { ...unsafeHeaders, 'content-type': typeOf(media.mimeType), 'content-disposition': attachment(media) }
    return c.body(media.bytes, 200, headers)
  })
}

/** Returns the requested part of a history: a page, the messages after a given message, or all. */
function historyAsked(c: SessionContext): HistoryQuery {
  const { loopId, after, before, limit, media: asked } = c.req.query()
  const media = asked === 'names' ? 'names' : 'bytes'
  if (limit === undefined && before === undefined) return { loopId, after, media }
  const page = { limit: limitOf(limit), ...(before !== undefined && { before }) }
  if (after !== undefined) refuse(400, 'invalidCursor', 'after is not supported. Send before with the id of the oldest known message.')
  return { loopId, page, media }
}

/**
 * Response headers for media. Browsers must not execute media, because they come from users, tools and models. The content of a hash never
 * changes.
 */
const unsafeHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cache-control': 'private, max-age=31536000, immutable',
}

function typeOf(mimeType: string): string {
  const type = baseType(mimeType)
  return /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : 'application/octet-stream'
}

/** Returns a file name in the format of RFC 8187. */
function attachment({ name = '' }: StoredMedia): string {
  const encoded = percentEncoded(headOf(name, 200))
  return encoded === '' ? 'attachment' : `attachment; filename*=UTF-8''${encoded}`
}

/** Returns loops for clients. `events=false` omits events and requests, which make up most of the data. */
function shownLoops<Loop extends PagedLoop>(
  c: SessionContext,
  loops: readonly Loop[],
  { turnRequests }: Pick<SessionRouteOptions, 'turnRequests'>,
): Loop[] {
  if (c.req.query('events') === 'false') return loops.map((loop) => ({ ...loop, events: [], turns: loop.turns.map(withoutRequest) }))
  // Omit requests, which contain the system prompt, as in event streams.
  return loops.map((loop) => {
    const events = loop.events.filter(({ event }) => !isWithheld(event, { turnRequests }))
    return { ...loop, events, turns: turnRequests ? loop.turns : loop.turns.map(withoutRequest) }
  })
}

function withoutRequest({ requestPayload: _withheld, ...turn }: Turn): Turn {
  return turn
}

const maxPage = 200

/** Returns the size of a page. Rejects with 400. */
function limitOf(given: string | undefined): number {
  if (given === undefined) return 50
  const limit = Number(given)
  if (!Number.isInteger(limit) || limit < 1 || limit > maxPage)
    refuse(400, 'invalidBody', `limit must be a whole number from 1 to ${maxPage}.`)
  return limit
}

/** Returns the requested page of a list. Rejects with 400. */
export function pageAsked(c: Context): ListPage {
  const { limit, cursor, status: given } = c.req.query()
  const status = sessionStatus.words.find((word) => word === given)
  if (given !== undefined && status === undefined) refuse(400, 'invalidBody', `status must be one of ${sessionStatus.words.join(', ')}.`)
  return { limit: limitOf(limit), ...(cursor !== undefined && { cursor }), ...(status !== undefined && { status }) }
}

/** Converts the error for an invalid cursor to a 400. Only the store can validate its cursors. */
export function refuseCursor(error: unknown): never {
  if (ConfigError.isInstance(error) && error.code === 'invalidOption') refuse(400, 'invalidCursor', error.message)
  throw error
}
