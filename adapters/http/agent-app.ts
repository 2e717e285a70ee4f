import { type Context, type Env, Hono } from 'hono'
import {
  aFlag,
  aFunction,
  aPositiveNumber,
  aText,
  checkOptions,
  either,
  listOf,
  oneOf,
  options as optionsOf,
  required,
  wholeFrom,
  withMethods,
} from '../../src/base/check-options.ts'
import { type Agent, ConfigError, type Logger } from '../../src/index.ts'
import { type Authorize, type Caller, callerOf } from './access/authorize.ts'
import { originGuard } from './access/origin.ts'
import type { LiveSessions } from './live/live-sessions.ts'
import type { Problem } from './problem.ts'
import { answerProblems } from './routes/answer-problems.ts'
import { addOneShotRuns } from './routes/one-shot-runs.ts'
import { sessionRoutes } from './routes/session-routes.ts'
import { addSessions } from './routes/sessions.ts'
import { OpenStreams } from './stream/open-streams.ts'

/** What `createAgentApp` needs to know. `E` is Hono's environment: on Cloudflare `{ Bindings: … }`. */
export interface AgentAppOptions<E extends Env = Env> {
  /**
   * Who asks: a name, whose sessions are then out of reach of everybody else; `true` for the only user there is, as `bearer(secret)` answers;
   * anything else refuses. `loopbackOnly`: whoever is on this machine.
   */
  authorize: Authorize<E>
  /** Where sessions live: `memoryLiveSessions(…)`, `objectLiveSessions(…)` on Cloudflare. Without it there are only runs without a session. */
  sessions?: LiveSessions | ((c: Context<E>) => LiveSessions)
  /** The agent that answers one `POST /runs` and is then forgotten. A problem is answered as it is. Without it that route is not there. */
  agent?: (c: Context<E>, caller: Caller) => Agent | Problem | Promise<Agent | Problem>
  /** Origins of other web pages that may ask this server, such as `https://app.example`. Default: none. */
  cors?: readonly string[]
  /** Largest request body in bytes. Default 1 MiB. */
  maxBodyBytes?: number
  /** Milliseconds in which a body must be there. Default 30,000. */
  bodyTimeoutMs?: number
  /** Answers that stream at once. Default 1,000. */
  maxOpenStreams?: number
  /** Milliseconds between the comments that keep an idle connection open, and show that the client is still there. Default 15,000. */
  pingMs?: number
  /** Whether `turnRequest` events are sent. They hold the system prompt and everything the model is told. Default `false`. */
  turnRequests?: boolean
  /**
   * Whether `POST /sessions/:id/import` takes in sessions from elsewhere, as `exportSession` gives them. What they say that a model or a tool
   * said is then believed, and calls that wait in them can be approved. Default `false`.
   */
  imports?: boolean
  /** Learns why an agent could not be started. Default: silence. */
  logger?: Logger
}

const agentAppOptions = optionsOf<AgentAppOptions>({
  authorize: required(either(oneOf('loopbackOnly'), aFunction)),
  sessions: either(withMethods('live sessions', 'fetch', 'list'), aFunction),
  agent: aFunction,
  cors: listOf(aText),
  maxBodyBytes: aPositiveNumber,
  bodyTimeoutMs: aPositiveNumber,
  maxOpenStreams: wholeFrom(1),
  pingMs: aPositiveNumber,
  turnRequests: aFlag,
  imports: aFlag,
  logger: withMethods('a logger', 'warn'),
})

/**
 * Agents behind HTTP, as a Hono app: serve its `fetch`, or mount it with `app.route('/api', …)`.
 *
 * - With `sessions`: conversations that are kept, and whose runs go on without a client, under `/sessions`.
 * - With `agent`: `POST /runs` streams one run of an agent that is then forgotten.
 *
 * **Contract**
 * - Nobody gets in whom `authorize` does not name. Pages of other origins are refused before it is asked, unless `cors` lists them.
 * - Before the first byte a failure is a problem body with its real status; afterwards it is an event of the run.
 * - Throws `ConfigError` `invalidOption` for a wrong option.
 *
 * Source: docs/http-and-workers.md
 *
 * @example
 * ```ts
 * const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model, tools }) })
 * const app = createAgentApp({ sessions, authorize: bearer(process.env.ACCESS_TOKEN) })
 * ```
 */
export function createAgentApp<E extends Env = Env>(options: AgentAppOptions<E>): Hono<E> {
  checkOptions(options, agentAppOptions)
  const { sessions, agent, authorize } = options
  if (sessions === undefined && agent === undefined) {
    throw new ConfigError('invalidOption', 'createAgentApp has neither sessions nor agent: give it one of them, or both.')
  }
  const {
    maxBodyBytes = 1024 * 1024,
    bodyTimeoutMs = 30_000,
    pingMs = 15_000,
    turnRequests = false,
    maxOpenStreams = 1000,
    imports = false,
  } = options
  const shared = {
    body: { maxBytes: maxBodyBytes, timeoutMs: bodyTimeoutMs },
    pingMs,
    turnRequests,
    imports,
    streams: new OpenStreams(maxOpenStreams),
    logger: options.logger,
  }
  const app = new Hono<E>()
  answerProblems(app, options.logger)
  app.use(originGuard(options.cors ?? []))
  const access = (c: Context<E>) => callerOf(c, authorize)
  if (agent !== undefined) addOneShotRuns(app, { access, agent, ...shared })
  if (sessions !== undefined) {
    const hostOf = typeof sessions === 'function' ? sessions : () => sessions
    addSessions(app, { access, sessions: hostOf, routes: sessionRoutes(shared), body: shared.body })
  }
  return app
}
