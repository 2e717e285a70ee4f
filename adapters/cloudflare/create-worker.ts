import type { Hono } from 'hono'
import { aFunction, aPositiveNumber, checkOptions, options as optionsOf, required, withMethods } from '../../src/base/check-options.ts'
import type { Agent } from '../../src/index.ts'
import { type AgentAppOptions, createAgentApp } from '../http/index.ts'

/** What `createWorker` needs to know. `Bindings` is what wrangler.toml binds: variables, secrets, namespaces. */
export interface WorkerOptions<Bindings extends object> extends Pick<AgentAppOptions, 'maxBodyBytes' | 'pingMs' | 'logger'> {
  /** The agent that answers this request; on Workers keys and stores exist only here, per request, in `env`. */
  agent: (env: Bindings, request: Request) => Agent | Promise<Agent>
  /** Whether this request may start a run. A Worker is public: without it, everybody spends your tokens. */
  authorize: (env: Bindings, request: Request) => boolean | Promise<boolean>
}

const workerOptions = optionsOf<WorkerOptions<object>>({
  agent: required(aFunction),
  authorize: required(aFunction),
  maxBodyBytes: aPositiveNumber,
  pingMs: aPositiveNumber,
  logger: withMethods('a logger', 'warn'),
})

/**
 * An agent as a Cloudflare Worker: `export default createWorker({ … })`.
 *
 * It is the Hono app of `adapters/http` with the bindings of a Worker; add your own routes to it. Needs no Node compatibility.
 *
 * **Contract**: workerd notices that a client went away when it cannot write to it, so an idle run is aborted at a ping, not at once.
 */
export function createWorker<Bindings extends object>(options: WorkerOptions<Bindings>): Hono<{ Bindings: Bindings }> {
  checkOptions(options, workerOptions)
  const { agent, authorize, ...rest } = options
  return createAgentApp<{ Bindings: Bindings }>({
    ...rest,
    agent: (c) => agent(c.env, c.req.raw),
    authorize: (c) => authorize(c.env, c.req.raw),
  })
}
