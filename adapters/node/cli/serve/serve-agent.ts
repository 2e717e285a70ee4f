import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { contextLimitOf } from '../../../../src/context.ts'
import { type Agent, ConfigError, type Logger, type SessionStore } from '../../../../src/index.ts'
import { bearer, createAgentApp } from '../../../http/index.ts'
import { SessionsHere } from '../../../http/internal.ts'
import { toNodeHandler } from '../../http/to-node-handler.ts'
import type { CliArguments } from '../args.ts'
import { type Assistant, openAssistant, type ServedAgent } from '../assistant/assistant.ts'
import { codeOf, stopSignals } from '../endings.ts'
import type { Screen } from '../terminal/screen.ts'
import { playgroundFiles } from './playground-files.ts'

/** Where the page finds its agent. */
const endpoint = '/agent'

/** The page shows its only user what the model is sent. */
const captured = { captureTurnRequests: true }

/** Whose agent is served. */
export interface AgentHome {
  /** The one of now: what is made for other sessions is made like it. */
  readonly agent: Agent
  readonly store: SessionStore
  /** The page goes on with a session that both use, with another agent: from an earlier place, say. */
  goOnWith(agent: Agent): void
}

/**
 * Serves the agent of an assistant on 127.0.0.1, and the playground to talk to it. Sessions are those of the assistant: what is said in the page is there in
 * a terminal, and the other way round. Only whoever has the token gets in.
 */
export async function serveAgent(home: AgentHome, { port, logger }: { port: number; logger: Logger }): Promise<ServedAgent> {
  const token = randomBytes(24).toString('base64url')
  const sessions = sessionsOf(home, logger)
  const fetchAgent = endpointOf(home, sessions, token)
  const file = await playgroundFiles(endpoint)
  const server = createServer(
    toNodeHandler(async (request, env) => {
      const { pathname } = new URL(request.url)
      if (pathname.startsWith(`${endpoint}/`)) return fetchAgent(request, env)
      const found = request.method === 'GET' ? await file(pathname, request.headers.get('accept-encoding')) : undefined
      return found ?? new Response('Not found', { status: 404 })
    }),
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new ConfigError('invalidOption', `Port ${port} cannot be listened on: ${error.code}. Take another --port.`, { cause: error }))
    })
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  const origin = `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : port}`
  let letGo = (): void => undefined
  return {
    link: (sessionId) => `${origin}/#token=${token}${sessionId === undefined ? '' : `&session=${encodeURIComponent(sessionId)}`}`,
    async open(sessionId) {
      const held = await sessions.hold({ sessionId }, (live) => live.agent())
      letGo()
      letGo = held.letGo
      return held.value
    },
    async share(agent) {
      agent.configure(captured)
      const held = await sessions.hold({ sessionId: agent.sessionId }, (live) => live.adopt(agent))
      letGo()
      letGo = held.letGo
    },
    async close() {
      letGo()
      await sessions.close()
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function sessionsOf(home: AgentHome, logger: Logger): SessionsHere {
  const agent = () => {
    const { session: _store, journal: _none, ...settings } = home.agent.settings
    return { ...settings, ...captured }
  }
  return new SessionsHere({ store: home.store, agent, logger }, { onAgent: (_address, made) => home.goOnWith(made) })
}

/** The routes of the agent, and what the page says of its model before it has asked it anything. */
function endpointOf(home: AgentHome, sessions: SessionsHere, token: string) {
  const isLetIn = bearer(token)
  const app = createAgentApp({ sessions, authorize: isLetIn, turnRequests: true })
  app.get('/about', async (c) => {
    if (!(await isLetIn(c))) return c.json({}, 401)
    const { name, provider, cost, ...limits } = home.agent.settings.model.config
    return c.json({ model: name, isScripted: provider === 'scripted', contextTokens: contextLimitOf(limits), cost })
  })
  return (request: Request, env: object): Response | Promise<Response> => {
    const { origin, pathname, search } = new URL(request.url)
    // Not relative to a host: a path that begins with two slashes would be another one.
    return app.fetch(new Request(origin + pathname.slice(endpoint.length) + search, request), env)
  }
}

/** `phi serve`: serves the agent of this directory, with a page, until it is stopped; `phi open` begins in its last session. Resolves with the exit code. */
export async function runServer(args: CliArguments, screen: Screen, logger: Logger): Promise<number> {
  const isOpening = args.command === 'open'
  const assistant = await openAssistant(isOpening ? { resume: true, ...args } : args, { isLive: false, logger })
  try {
    if (isOpening) assertNowhereElse(assistant)
    for (const note of assistant.notes) screen.say('yellow', note)
    assistant.served = await serveAgent(assistant, { port: Number(args.port ?? 0), logger })
    if (isOpening) await assistant.served.share(assistant.agent)
    // The one time that the token is shown.
    screen.data(screen.paintData.plain(`${assistant.served.link(isOpening ? assistant.agent.sessionId : undefined)}\n`))
    screen.say('dim', 'Open it in a browser on this machine. Everybody with the link may do what you may. Ctrl-C ends it.')
    return await new Promise<number>((resolve) => {
      for (const signal of stopSignals) process.once(signal, () => resolve(codeOf[signal]))
    })
  } finally {
    await assistant.close()
  }
}

/** Where a phi talks in the session, that one can hand it over with both going on; here it would be taken away from it. */
function assertNowhereElse({ agent, others }: Assistant): void {
  if (others.length === 0) return
  const where = `process${others.length === 1 ? '' : 'es'} ${others.join(', ')}`
  throw new ConfigError(
    'invalidOption',
    `Session ${agent.sessionId} is open in another phi, ${where}. Say /open there: the page and that terminal then go on together.`,
  )
}
