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
 * What was said in a session: `GET /` with everything that its store has, `GET /loops` with that by page, `GET /history` with the messages, and `GET /blobs/:hash` with bytes that
 * the store keeps beside them.
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
    if (media === undefined)
      refuse(404, 'notFound', 'The session keeps no such bytes. Take the hash from a block of …/history?media=names.')
    const headers = { ...unsafeHeaders, 'content-type': typeOf(media.mimeType), 'content-disposition': attachment(media) }
    return c.body(media.bytes, 200, headers)
  })
}

/** What a client asks for of a history: a page of it, what comes after a message, or all of it. */
function historyAsked(c: SessionContext): HistoryQuery {
  const { loopId, after, before, limit, media: asked } = c.req.query()
  const media = asked === 'names' ? 'names' : 'bytes'
  if (limit === undefined && before === undefined) return { loopId, after, media }
  const page = { limit: limitOf(limit), ...(before !== undefined && { before }) }
  if (after !== undefined)
    refuse(400, 'invalidCursor', 'A page has no after. Send before, with the id of the oldest message that is known.')
  return { loopId, page, media }
}

/** They come from users, tools and models: no browser may run them. Those of a hash never change. */
const unsafeHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cache-control': 'private, max-age=31536000, immutable',
}

function typeOf(mimeType: string): string {
  const type = baseType(mimeType)
  return /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : 'application/octet-stream'
}

/** A name as RFC 8187 spells it. */
function attachment({ name = '' }: StoredMedia): string {
  const encoded = percentEncoded(headOf(name, 200))
  return encoded === '' ? 'attachment' : `attachment; filename*=UTF-8''${encoded}`
}

/** Loops as clients see them; with `events=false` without events and requests, which are most of it. */
function shownLoops<Loop extends PagedLoop>(
  c: SessionContext,
  loops: readonly Loop[],
  { turnRequests }: Pick<SessionRouteOptions, 'turnRequests'>,
): Loop[] {
  if (c.req.query('events') === 'false') return loops.map((loop) => ({ ...loop, events: [], turns: loop.turns.map(withoutRequest) }))
  // What the model was sent holds the system prompt; it stays on the server, as in the stream of events.
  return loops.map((loop) => {
    const events = loop.events.filter(({ event }) => !isWithheld(event, { turnRequests }))
    return { ...loop, events, turns: turnRequests ? loop.turns : loop.turns.map(withoutRequest) }
  })
}

function withoutRequest({ requestPayload: _withheld, ...turn }: Turn): Turn {
  return turn
}

const maxPage = 200

/** How many a page has, as the query says it. Refuses with 400. */
function limitOf(given: string | undefined): number {
  if (given === undefined) return 50
  const limit = Number(given)
  if (!Number.isInteger(limit) || limit < 1 || limit > maxPage)
    refuse(400, 'invalidBody', `limit must be a whole number from 1 to ${maxPage}.`)
  return limit
}

/** The part of a list that a query asks for. Refuses with 400. */
export function pageAsked(c: Context): ListPage {
  const { limit, cursor, status: given } = c.req.query()
  const status = sessionStatus.words.find((word) => word === given)
  if (given !== undefined && status === undefined) refuse(400, 'invalidBody', `status must be one of ${sessionStatus.words.join(', ')}.`)
  return { limit: limitOf(limit), ...(cursor !== undefined && { cursor }), ...(status !== undefined && { status }) }
}

/** Only the store knows the form of its cursors. */
export function refuseCursor(error: unknown): never {
  if (ConfigError.isInstance(error) && error.code === 'invalidOption') refuse(400, 'invalidCursor', error.message)
  throw error
}
