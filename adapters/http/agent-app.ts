import type { Context, Env, Hono } from 'hono'
import { checkOptions } from '../../src/contract/shape/read.ts'
import { aFunction, aText, either, listOf, oneOf, options as optionsOf } from '../../src/contract/shape/shape.ts'
import { ConfigError } from '../../src/index.ts'
import { answerProblems } from './access/answer-problems.ts'
import { type Authorize, callerOf, type Letting, lettingOf, lettingTable } from './access/authorize.ts'
import { newApp } from './access/new-app.ts'
import { originGuard } from './access/origin.ts'
import { type LiveSessions, liveSessions, requestHeaders } from './live/live-sessions.ts'
import { addOneShotRuns, type MakeAgent } from './one-shot/stateless-run.ts'
import { addHealth } from './operator/health.ts'
import { type AppObserver, observeApp } from './operator/observer.ts'
import { addOperator } from './operator/operator-routes.ts'
import { type RouteOptions, resolvedRoutes, routeTable } from './routes/route-options.ts'
import { sessionRoutes } from './routes/session-routes.ts'
import { addSessions } from './routes/sessions.ts'

/** What `createAgentApp` needs to know. `E` is Hono's environment: on Cloudflare `{ Bindings: … }`. */
export interface AgentAppOptions<E extends Env = Env> extends RouteOptions {
  /**
   * Who asks: a name, whose sessions are then out of reach of everybody else; `true` for the only user there is, as `bearer(secret)` answers;
   * anything else refuses. `loopbackOnly`: whoever is on this machine.
   */
  authorize: Authorize<E>
  /** Where sessions live: `memoryLiveSessions(…)`, `objectLiveSessions(…)` on Cloudflare. Without it there are only runs without a session. */
  sessions?: LiveSessions | ((c: Context<E>) => LiveSessions)
  /** The agent that answers one `POST /runs` and is then forgotten. A problem is answered as it is. Without it that route is not there. */
  agent?: MakeAgent<E>
  /**
   * Who may see the sessions of everybody and stop their runs, under `/operator`. A name it answers is the operator's, for the log. Default: those routes are
   * not there.
   */
  authorizeOperator?: Authorize<E>
  /** Learn of every request, and what goes on. A `logger` with `info` learns of requests and of what operators do. */
  observers?: readonly AppObserver[]
  /** Origins of other web pages that may ask this server, such as `https://app.example`. Default: none. */
  cors?: readonly string[]
}

/** To try an app out: everybody on this machine is let in, also as an operator. Nobody else is, and nothing that a proxy passes on. */
export interface DevAppOptions<E extends Env = Env> extends Omit<AgentAppOptions<E>, 'authorize'> {
  dev: true
  authorize?: never
}

type AnyAppOptions<E extends Env> = Omit<AgentAppOptions<E>, 'authorize'> & Letting<E>

const agentAppOptions = optionsOf<AnyAppOptions<Env>>({
  ...lettingTable,
  sessions: either(liveSessions, aFunction),
  agent: aFunction,
  authorizeOperator: either(oneOf('loopbackOnly'), aFunction),
  observers: listOf(optionsOf<AppObserver>({ request: aFunction, begin: aFunction }, true)),
  cors: listOf(aText),
  ...routeTable,
})

/** Headers that a page may send, and read. */
const allowedHeaders = [...requestHeaders, 'authorization']
const exposedHeaders = ['retry-after', 'x-vercel-ai-ui-message-stream']

/**
 * Agents behind HTTP, as a Hono app: serve its `fetch`, or mount it with `app.route('/api', …)`.
 *
 * - With `sessions`: conversations that are kept, and whose runs go on without a client, under `/sessions`.
 * - With `agent`: `POST /runs` streams one run of an agent that is then forgotten.
 * - `GET /healthz` and `/readyz` for balancers, which nobody has to be let in for.
 *
 * **Contract**
 * - Nobody gets in whom `authorize` does not name. Pages of other origins are refused before it is asked, unless `cors` lists them.
 * - Before the first byte a failure is a problem body with its real status; afterwards it is an event of the run.
 * - Throws `ConfigError` `invalidOption` for a wrong option.
 *
 * Source: docs/guides/serve-over-http.md
 *
 * @example
 * ```ts
 * const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model, tools }) })
 * const app = createAgentApp({ sessions, authorize: bearer(process.env.ACCESS_TOKEN) })
 * const toTry = createAgentApp({ sessions, dev: true })
 * ```
 */
export function createAgentApp<E extends Env = Env>(options: AgentAppOptions<E> | DevAppOptions<E>): Hono<E>
export function createAgentApp<E extends Env>(options: AnyAppOptions<E>): Hono<E> {
  checkOptions(options, agentAppOptions)
  const { sessions, agent } = options
  const authorize = lettingOf('createAgentApp', options)
  const authorizeOperator = options.authorizeOperator ?? (options.dev === true ? 'loopbackOnly' : undefined)
  if (sessions === undefined && agent === undefined) {
    throw new ConfigError('invalidOption', 'createAgentApp has neither sessions nor agent: give it one of them, or both.')
  }
  const shared = resolvedRoutes(options)
  const app = newApp<E>()
  answerProblems(app, options.logger)
  const ofAll = typeof sessions === 'function' ? undefined : sessions
  const hostOf = typeof sessions === 'object' ? () => sessions : sessions
  observeApp(app, { observers: options.observers ?? [], logger: options.logger, sessions: ofAll, streams: shared.streams })
  app.use(
    originGuard({
      ...{ allowed: options.cors ?? [], methods: ['GET', 'POST', 'DELETE'], headers: allowedHeaders, exposed: exposedHeaders },
      logger: options.logger,
    }),
  )
  addHealth(app, hostOf)
  const access = (c: Context<E>) => callerOf(c, authorize)
  if (agent !== undefined) addOneShotRuns(app, { access, agent, ...shared })
  if (hostOf !== undefined) {
    const routes = sessionRoutes(shared)
    ofAll?.answerWith?.(routes, shared.body)
    addSessions(app, { access, sessions: hostOf, routes, body: shared.body })
    addOperator(app, { authorize: authorizeOperator, sessions: hostOf, routes, logger: options.logger })
  }
  return app
}
