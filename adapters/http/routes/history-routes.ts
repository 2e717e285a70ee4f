import type { FileContent, ImageContent, SessionStore } from '../../../src/index.ts'
import { baseType, bytesOfBase64, isWithheld, mediaIn } from '../../../src/internal.ts'
import { messagesWithBytes, type Session, SessionError, type Turn } from '../../../src/session/index.ts'
import { refuse } from '../access/problem.ts'
import { type History, pageIn } from '../live/read/history-page.ts'
import type { PagedLoop } from '../live/read/loop-page.ts'
import { limitOf } from './page-query.ts'
import type { SessionApp, SessionContext, SessionRouteOptions } from './route-options.ts'

/**
 * What was said in a session: `GET /` with everything that its store has, `GET /loops` with that by page, `GET /history` with the messages, and `GET /blobs/:hash` with bytes that
 * the store keeps beside them.
 *
 * Source: docs/http-and-workers.md
 */
export function addHistoryRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/', async (c) => {
    const { live } = c.env
    const run = await live.currentRun()
    const session = await sessionIn(live.store, live.sessionId)
    if (session === undefined) return refuseUnknown()
    const loops = shownLoops(c, session.loops, options)
    return c.json({ session: { ...session, loops }, ...(run !== undefined && { runningLoopId: run.loopId }) })
  })
  app.get('/loops', async (c) => {
    const { live } = c.env
    const run = await live.currentRun()
    const { limit, before } = c.req.query()
    if (!(await live.recorded.isKnown())) return refuseUnknown()
    const { loops, hasEarlier } = await live.recorded.loops({ limit: limitOf(limit), ...(before !== undefined && { before }) })
    return c.json({ loops: shownLoops(c, loops, options), hasEarlier, ...(run !== undefined && { runningLoopId: run.loopId }) })
  })
  app.get('/history', async (c) => {
    const { live } = c.env
    const run = await live.currentRun()
    const { asked, ...place } = await askedOf(c)
    const { messages, approvals, clientCalls, queued, loopId } = asked
    return c.json({
      messages:
        c.req.query('media') === 'names'
          ? await live.media.inMessages(messages)
          : await messagesWithBytes(live.store, live.sessionId, messages),
      approvals,
      ...(clientCalls.length > 0 && { clientCalls }),
      ...place,
      ...(loopId !== undefined && { loopId }),
      ...(run !== undefined && { runningLoopId: run.loopId }),
      ...(queued.length > 0 && { queued }),
    })
  })
  app.get('/blobs/:hash', async (c) => {
    const { live } = c.env
    const hash = c.req.param('hash')
    const reported = live.media.find(hash)
    // Bytes that no record names are nobody's: those of a write that was cut off.
    const block = reported ?? mediaIn(await live.recorded.records()).find(({ blob }) => blob?.hash === hash)
    if (block === undefined) return refuseBlob()
    const headers = { ...unsafeHeaders, 'content-type': typeOf(block.mimeType), 'content-disposition': attachment(block) }
    const { data } = block
    return c.body(data === undefined ? await bytesIn(live.store, live.sessionId, hash) : bytesOfBase64(data), 200, headers)
  })
}

/** What a client asks for of a history: a page of it, what comes after a message, or all of it; and what it has to know of that. */
async function askedOf(c: SessionContext): Promise<{ asked: History; after?: string; hasEarlier?: boolean }> {
  const { live } = c.env
  const { loopId, after, before, limit } = c.req.query()
  if (limit === undefined && before === undefined) {
    const asked = await live.history(loopId)
    const at = after === undefined ? -1 : asked.messages.findLastIndex(({ id }) => id === after)
    return { asked: { ...asked, messages: asked.messages.slice(at + 1) }, ...(at >= 0 && { after }) }
  }
  const query = { limit: limitOf(limit), ...(before !== undefined && { before }) }
  if (after !== undefined)
    refuse(400, 'invalidCursor', 'A page has no after. Send before, with the id of the oldest message that is known.')
  const asked = loopId === undefined ? await live.historyPage(query) : pageIn(await live.history(loopId), query)
  return { asked, hasEarlier: asked.hasEarlier }
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
function attachment(block: ImageContent | FileContent): string {
  // Half of a surrogate pair has no UTF-8 form.
  const name = block.type === 'file' ? (block.name ?? '').slice(0, 200).replace(/\p{Surrogate}/gu, '') : ''
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  return encoded === '' ? 'attachment' : `attachment; filename*=UTF-8''${encoded}`
}

async function bytesIn(store: SessionStore, sessionId: string, hash: string): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await store.blob(sessionId, hash)
  } catch (error) {
    if (!SessionError.isInstance(error)) throw error
    if (error.code === 'notFound') return refuseBlob()
    if (error.code === 'invalidSession') refuse(410, 'gone', 'These bytes are damaged in the store. Send the file again.')
    throw error
  }
}

function refuseBlob(): never {
  refuse(404, 'notFound', 'The session keeps no such bytes. Take the hash from a block of …/history?media=names.')
}

/** Refuses with 404. */
export function refuseUnknown(): never {
  refuse(404, 'notFound', 'Nothing was said in this session yet. Send a prompt to …/runs.')
}

async function sessionIn(store: SessionStore, sessionId: string): Promise<Session | undefined> {
  try {
    return await store.load(sessionId)
  } catch (error) {
    if (SessionError.isInstance(error) && error.code === 'notFound') return undefined
    throw error
  }
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
