import type { Hono } from 'hono'
import { checkOptions } from '../../src/contract/shape/read.ts'
import { aFunction, kind, options as optionsOf, required } from '../../src/contract/shape/shape.ts'
import type { Agent } from '../../src/index.ts'
import { type AgentAppOptions, type Caller, createAgentApp, type Identity, type LiveSessions } from '../http/index.ts'

/** Options for `createWorker`. `Bindings` are those of wrangler.toml: variables, secrets, namespaces. */
export interface WorkerOptions<Bindings extends object>
  extends Omit<AgentAppOptions, 'agent' | 'authorize' | 'authorizeOperator' | 'context' | 'dev' | 'sessions'> {
  /** Authenticates a request, as for `createAgentApp`. A Worker is public, so every accepted caller spends your tokens. */
  authorize: (env: Bindings, request: Request) => Identity | Promise<Identity>
  /** Returns the session host, usually `objectLiveSessions({ sessions: env.SESSIONS, index: env.INDEX })`. */
  sessions?: (env: Bindings) => LiveSessions
  /** Creates the agent for one `POST /runs`. On Workers, keys and stores are available only in `env`, per request. */
  agent?: (env: Bindings, request: Request, caller: Caller) => Agent | Promise<Agent>
}

const anything = kind('anything', () => true)
const workerOptions = optionsOf<WorkerOptions<object>>({
  authorize: required(aFunction),
  sessions: aFunction,
  agent: aFunction,
  // `createAgentApp` validates it.
  cors: anything,
  maxBodyBytes: anything,
  bodyTimeoutMs: anything,
  maxOpenStreams: anything,
  maxStreams: anything,
  maxLagMs: anything,
  observers: anything,
  pingMs: anything,
  turnRequests: anything,
  imports: anything,
  clientSettings: anything,
  mediaBase: anything,
  logger: anything,
})

/**
 * Creates a Cloudflare Worker that serves agents: `export default createWorker({ … })`.
 *
 * Returns the Hono app of `createAgentApp` with the Worker's bindings, to which you can add routes. The Worker needs no Node compatibility.
 *
 * **Contract**
 * - workerd detects a disconnected client only when a write fails, so a run without a session is aborted at the next ping.
 *
 * Source: docs/guides/serve-over-http.md
 */
export function createWorker<Bindings extends object>(options: WorkerOptions<Bindings>): Hono<{ Bindings: Bindings }> {
  checkOptions(options, workerOptions)
  const { agent, authorize, sessions, ...rest } = options
  return createAgentApp<{ Bindings: Bindings }>({
    ...rest,
    authorize: (c) => authorize(c.env, c.req.raw),
    ...(sessions !== undefined && { sessions: (c) => sessions(c.env) }),
    ...(agent !== undefined && { agent: (c, caller) => agent(c.env, c.req.raw, caller) }),
  })
}
