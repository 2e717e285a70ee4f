import { Hono } from 'hono'
import { type AgentRun, type Logger, type Session, SessionError, type SessionStore } from '../../../src/index.ts'
import { createAgentApp, type Problem, problemResponse } from '../../http/index.ts'
import type { LiveSession } from './live-session.ts'

/** What a `LiveSessionObject` says about its routes. */
interface RouteOptions {
  maxBodyBytes: number
  logger: Logger | undefined
}

/** The routes of one live session. Runs go on without a client, and `GET /runs/:loopId/events` picks them up. */
export function liveSessionApp(live: LiveSession, store: SessionStore, sessionId: string, options: RouteOptions): Hono {
  const { maxBodyBytes, logger } = options
  const app = new Hono()
  app.use('/runs', async (c, next) => {
    await next()
    if (!c.res.ok) await live.refused()
  })
  const runs = createAgentApp({
    agent: () => live.readyAgent(),
    resume: async (_c, loopId) => (await live.runOf(loopId)) ?? whereItWent(live, loopId),
    maxBodyBytes,
    ...(logger !== undefined && { logger }),
  })
  app.route('/', runs)
  app.get('/', async (c) => {
    const run: AgentRun | undefined = await live.currentRun()
    const session = await sessionIn(store, sessionId)
    if (session === undefined) return problemResponse(unknownSession)
    return c.json({ session, ...(run !== undefined && { runningLoopId: run.loopId }) })
  })
  app.post('/stop', async (c) => {
    if (!live.isKnown()) return problemResponse(unknownSession)
    await live.stop()
    return c.body(null, 204)
  })
  app.notFound(() => problemResponse(unknownRoute))
  return app
}

const unknownSession: Problem = { status: 404, code: 'notFound', detail: 'Nothing was said in this session yet. Send a prompt to /runs.' }

const unknownRoute: Problem = {
  status: 404,
  code: 'notFound',
  detail: 'A session has POST /runs, GET /runs/:loopId/events, GET / and POST /stop.',
}

async function whereItWent(live: LiveSession, loopId: string): Promise<Problem | undefined> {
  const trace = await live.trace(loopId)
  if (trace === undefined) return undefined
  const next = trace.continuedBy === undefined ? '' : ' Then read the events of the loop that goes on with it.'
  return { status: 410, code: 'gone', detail: `The events of this run are gone; what came of it is in the session.${next}`, ...trace }
}

async function sessionIn(store: SessionStore, sessionId: string): Promise<Session | undefined> {
  try {
    return forClients(await store.load(sessionId))
  } catch (error) {
    if (SessionError.isInstance(error) && error.code === 'notFound') return undefined
    throw error
  }
}

/** What the model was sent holds the system prompt; it stays on the server, as in the stream of events. */
function forClients(session: Session): Session {
  const loops = session.loops.map((loop) => ({ ...loop, turns: loop.turns.map(({ requestPayload: _withheld, ...turn }) => turn) }))
  return { ...session, loops }
}
