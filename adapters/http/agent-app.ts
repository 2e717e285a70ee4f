import type { Context, Env, Hono } from 'hono'
import { checkOptions } from '../../src/contract/shape/read.ts'
import { aFunction, aText, either, listOf, oneOf, options as optionsOf } from '../../src/contract/shape/shape.ts'
import { ConfigError } from '../../src/index.ts'
import { answerProblems } from './access/answer-problems.ts'
import { type Authorize, callerOf, type Letting, lettingOf, lettingTable } from './access/authorize.ts'
import { newApp } from './access/new-app.ts'
import { originGuard } from './access/origin.ts'
import { type LiveSessions, liveSessions, requestHeaders } from './live/live-sessions.ts'
import type { DeclaredContext, MakeContext, WithContext } from './live/run-context.ts'
import { addOneShotRuns, type MakeAgent } from './one-shot/stateless-run.ts'
import { addHealth } from './operator/health.ts'
import { type AppObserver, observeApp } from './operator/observer.ts'
import { addOperator } from './operator/operator-routes.ts'
import { type RouteOptions, resolvedRoutes, routeTable } from './routes/route-options.ts'
import { sessionRoutes } from './routes/session-routes.ts'
import { addSessions, hostIn } from './routes/sessions.ts'

/** Options for `createAgentApp`. `E` is Hono's environment: on Cloudflare `{ Bindings: … }`. */
export interface AgentAppOptions<E extends Env = Env, RunValue = unknown> extends RouteOptions {
  /**
   * Authenticates a request. Return a name to give each user separate sessions, or `true` on a server with a single user (as
   * `bearer(secret)` does). Anything else rejects the request. `loopbackOnly` accepts requests from this machine.
   */
  authorize: Authorize<E>
  /**
   * The session host: `memoryLiveSessions(…)`, or `objectLiveSessions(…)` on Cloudflare. Without one, the app serves only runs without a
   * session.
   */
  sessions?: (LiveSessions & WithContext<RunValue>) | ((c: Context<E>) => LiveSessions & WithContext<RunValue>)
  /** Creates the agent for one `POST /runs`. Return a `Problem` to reject. Default: the route does not exist. */
  agent?: MakeAgent<E>
  /**
   * Returns a run's `context` for tools and hooks, such as a request token or a tenant. Called when a run starts.
   *
   * - Decisions, results and messages for a running run never change it.
   * - Without a request, `c` is `undefined`. If the function then returns `undefined`, the run waits (`contextMissing`). Create the app
   *   before `recover`.
   * - The value must match the type that the tools of `sessions` declare, if TypeScript can infer it.
   * - Default: none. On Cloudflare, implement the method of the same name in the Durable Object instead.
   */
  context?: MakeContext<E, NoInfer<RunValue>>
  /**
   * Authenticates operators, who can read all sessions and stop their runs under `/operator`. Logs a returned name. By default, these
   * routes do not exist.
   */
  authorizeOperator?: Authorize<E>
  /** Observers of requests and the process. A `logger` with `info` also logs requests and operator commands. */
  observers?: readonly AppObserver[]
  /** Other origins whose web pages may send requests, such as `https://app.example`. Default: none. */
  cors?: readonly string[]
}

/**
 * Options for trying out an app. Accepts every request from this machine, including operator routes. Rejects all other requests, including
 * those that a proxy forwarded.
 */
export interface DevAppOptions<E extends Env = Env, RunValue = unknown> extends Omit<AgentAppOptions<E, RunValue>, 'authorize'> {
  dev: true
  authorize?: never
}

type AnyAppOptions<E extends Env> = Omit<AgentAppOptions<E>, 'authorize'> & Letting<E>

const agentAppOptions = optionsOf<AnyAppOptions<Env>>({
  ...lettingTable,
  sessions: either(liveSessions, aFunction),
  agent: aFunction,
  context: aFunction,
  authorizeOperator: either(oneOf('loopbackOnly'), aFunction),
  observers: listOf(optionsOf<AppObserver>({ request: aFunction, begin: aFunction }, true)),
  cors: listOf(aText),
  ...routeTable,
})

/** Headers that web pages can send and read. */
const allowedHeaders = [...requestHeaders, 'authorization']
const exposedHeaders = ['retry-after', 'x-vercel-ai-ui-message-stream']

/**
 * Creates a Hono app that serves agents over HTTP. Serve its `fetch`, or mount it with `app.route('/api', …)`.
 *
 * - With `sessions`: serves stored conversations under `/sessions`. Runs continue without a connected client.
 * - With `agent`: `POST /runs` streams one run of a new agent.
 * - `GET /healthz` and `/readyz` for load balancers, without authentication.
 *
 * **Contract**
 * - Rejects requests that `authorize` does not accept. Before that, rejects pages from other origins unless `cors` lists them.
 * - Sends a failure before the first byte as a problem body with an HTTP status. Later failures are events in the run.
 * - Throws `ConfigError` `invalidOption` for an invalid option.
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
export function createAgentApp<E extends Env = Env, RunValue = unknown>(
  options: (AgentAppOptions<E, RunValue> | DevAppOptions<E, RunValue>) & NoInfer<DeclaredContext<E, RunValue>>,
): Hono<E>
export function createAgentApp<E extends Env>(options: AnyAppOptions<E>): Hono<E> {
  checkOptions(options, agentAppOptions)
  const { sessions, agent, context } = options
  const authorize = lettingOf('createAgentApp', options)
  const authorizeOperator = options.authorizeOperator ?? (options.dev === true ? 'loopbackOnly' : undefined)
  if (sessions === undefined && agent === undefined) {
    throw new ConfigError('invalidOption', 'createAgentApp has neither sessions nor agent. Pass at least one.')
  }
  const shared = resolvedRoutes(options)
  const app = newApp<E>()
  answerProblems(app, options.logger)
  const ofAll = typeof sessions === 'function' ? undefined : sessions
  const hostOf = sessions && hostIn(sessions, context)
  observeApp(app, { observers: options.observers ?? [], logger: options.logger, sessions: ofAll, streams: shared.streams })
  app.use(
    originGuard({
      ...{ allowed: options.cors ?? [], methods: ['GET', 'POST', 'DELETE'], headers: allowedHeaders, exposed: exposedHeaders },
      logger: options.logger,
    }),
  )
  addHealth(app, hostOf)
  const access = (c: Context<E>) => callerOf(c, authorize)
  const makeContext = context === undefined ? {} : { context }
  if (agent !== undefined) addOneShotRuns(app, { access, agent, ...makeContext, ...shared })
  if (hostOf !== undefined) {
    const routes = sessionRoutes(shared)
    ofAll?.answerWith?.(routes, shared.body)
    addSessions(app, { access, sessions: hostOf, routes, ...makeContext, body: shared.body })
    addOperator(app, { authorize: authorizeOperator, sessions: hostOf, routes, logger: options.logger })
  }
  return app
}
