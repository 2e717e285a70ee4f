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

/** Options of `createAgentApp`. `E` is Hono's environment: on Cloudflare `{ Bindings: … }`. */
export interface AgentAppOptions<E extends Env = Env> extends RouteOptions {
  /**
   * Authenticates a request. Return a name to give each user separate sessions, `true` for a server with a single user (as
   * `bearer(secret)` does), anything else to refuse. `loopbackOnly` accepts requests of this machine.
   */
  authorize: Authorize<E>
  /**
   * Host of the sessions: `memoryLiveSessions(…)`, or `objectLiveSessions(…)` on Cloudflare. Default: none, so only runs without
   * a session are served.
   */
  sessions?: LiveSessions | ((c: Context<E>) => LiveSessions)
  /** Creates the agent for one `POST /runs`. Return a `Problem` to refuse. Default: the route does not exist. */
  agent?: MakeAgent<E>
  /**
   * Authenticates operators, who can read all sessions and stop their runs under `/operator`. A returned name appears in the log.
   * Default: these routes do not exist.
   */
  authorizeOperator?: Authorize<E>
  /** Observers of requests and of the process. A `logger` with `info` also logs requests and what operators do. */
  observers?: readonly AppObserver[]
  /** Other origins whose web pages may send requests, such as `https://app.example`. Default: none. */
  cors?: readonly string[]
}

/**
 * Options to try an app out: accepts every request of this machine, also on operator routes. Refuses all others, including those
 * that a proxy forwards.
 */
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

/** Headers that a page may send and read. */
const allowedHeaders = [...requestHeaders, 'authorization']
const exposedHeaders = ['retry-after', 'x-vercel-ai-ui-message-stream']

/**
 * Creates a Hono app that serves agents over HTTP: serve its `fetch`, or mount it with `app.route('/api', …)`.
 *
 * - With `sessions`: stored conversations under `/sessions`. Their runs continue without a client.
 * - With `agent`: `POST /runs` streams one run of a new agent.
 * - `GET /healthz` and `/readyz` for load balancers, without authentication.
 *
 * **Contract**
 * - Refuses requests that `authorize` does not accept. Refuses pages of other origins first, unless `cors` lists them.
 * - Before the first byte a failure is a problem body with its HTTP status; afterwards it is an event of the run.
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
