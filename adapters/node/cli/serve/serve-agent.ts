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

/** Path to the agent endpoint. */
const endpoint = '/agent'

/** Captures model requests for the web app's inspector. */
const captured = { captureTurnRequests: true }

/** The owner of the served agent. */
export interface AgentHome {
  /** The current agent. Agents for other sessions copy its settings. */
  readonly agent: Agent
  readonly store: SessionStore
  /** Called when the web app continues a shared session with another agent, for example from an earlier message. */
  goOnWith(agent: Agent): void
}

/**
 * Serves the agent and the playground on 127.0.0.1. Browser and terminal share the assistant's sessions. Every request needs the token.
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
      reject(new ConfigError('invalidOption', `Cannot listen on port ${port}: ${error.code}. Pass another --port.`, { cause: error }))
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

/** Creates the agent routes and the model information for the web app. */
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
    // Do not resolve against a host, because a path that starts with // would select another host.
    return app.fetch(new Request(origin + pathname.slice(endpoint.length) + search, request), env)
  }
}

/** Runs `phi serve` and `phi open`: serves the agent and the web app until stopped. Resolves with the exit code. */
export async function runServer(args: CliArguments, screen: Screen, logger: Logger): Promise<number> {
  const isOpening = args.command === 'open'
  const assistant = await openAssistant(isOpening ? { resume: true, ...args } : args, { isLive: false, logger })
  try {
    if (isOpening) assertNowhereElse(assistant)
    for (const note of assistant.notes) screen.say('yellow', note)
    assistant.served = await serveAgent(assistant, { port: Number(args.port ?? 0), logger })
    if (isOpening) await assistant.served.share(assistant.agent)
    // Only place that prints the token.
    screen.data(screen.paintData.plain(`${assistant.served.link(isOpening ? assistant.agent.sessionId : undefined)}\n`))
    screen.say('dim', 'Open the link in a browser on this machine. Everyone with the link has your rights. Ctrl-C stops the server.')
    return await new Promise<number>((resolve) => {
      for (const signal of stopSignals) process.once(signal, () => resolve(codeOf[signal]))
    })
  } finally {
    await assistant.close()
  }
}

/** Throws if another phi process has the session open, because only that process can share it without losing it. */
function assertNowhereElse({ agent, others }: Assistant): void {
  if (others.length === 0) return
  const where = `process${others.length === 1 ? '' : 'es'} ${others.join(', ')}`
  throw new ConfigError(
    'invalidOption',
    `Session ${agent.sessionId} is open in another phi, ${where}. Run /open there to share it with the browser.`,
  )
}
