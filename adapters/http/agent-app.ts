import { type Context, type Env, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { type Agent, AgentBusyError, type AgentRun, ConfigError, type Logger, PhiError } from '../../src/index.ts'
import { type Problem, problemResponse } from './problem.ts'
import { parseRunBody, type RunBody } from './run-body.ts'
import { sseStream } from './sse-stream.ts'
import type { SseOptions } from './to-sse.ts'

/** What `createAgentApp` needs to know. `E` is Hono's environment: on Cloudflare `{ Bindings: … }`. */
export interface AgentAppOptions<E extends Env = Env> extends SseOptions {
  /** The agent that answers this request. Called once per request, after `authorize`. */
  agent: (c: Context<E>) => Agent | Promise<Agent>
  /** Whether this request may start a run. Default: everybody may, so leave it out only where nobody else can reach the server. */
  authorize?: (c: Context<E>) => boolean | Promise<boolean>
  /** Largest request body in bytes. Default 1 MiB. */
  maxBodyBytes?: number
  /** Milliseconds between the comments that keep an idle connection open, and show that the client is still there. Default 15,000. */
  pingMs?: number
  /** Learns why an agent could not be started. Default: silence. */
  logger?: Logger
}

/**
 * An agent behind HTTP, as a Hono app: serve its `fetch`, or mount it with `app.route('/api', …)`.
 *
 * `POST /runs` with `{ "prompt": "…", "metadata": … }` streams the events of one run as server-sent events (see `toSse`).
 *
 * **Contract**
 * - Before the first byte a failure is a problem body with its real status; afterwards it is an event of the run.
 * - The body must be `application/json`: a foreign web page cannot send that without asking first, so it cannot start runs on a server that
 *   its visitor can reach.
 * - A client that goes away aborts its run. There is no stream log yet, so a run cannot be picked up again; that is a later step.
 *
 * Source: reference/ux.md §8.
 */
export function createAgentApp<E extends Env = Env>(options: AgentAppOptions<E>): Hono<E> {
  const { maxBodyBytes = 1024 * 1024, pingMs = 15_000 } = options
  const app = new Hono<E>()
  const limit = bodyLimit({ maxSize: maxBodyBytes, onError: () => problemResponse(tooLarge(maxBodyBytes)) })
  app.use('/runs', async (c, next) => {
    if (options.authorize !== undefined && !(await options.authorize(c))) return problemResponse(unauthorized)
    return next()
  })
  app.use('/runs', limit)
  app.post('/runs', async (c) => {
    if (!isJson(c.req.header('content-type'))) return problemResponse(notJson)
    const { body, problem } = parseRunBody(await c.req.text())
    if (problem !== undefined) return problemResponse(problem)
    return start(await options.agent(c), body, c.req.raw.signal, (run) => streamed(run, pingMs, options))
  })
  app.onError((error) => {
    options.logger?.warn('agentFailed', { message: error.message })
    return problemResponse(agentFailed(error))
  })
  return app
}

function start(agent: Agent, body: RunBody, signal: AbortSignal, respond: (run: AgentRun) => Response): Response {
  const { messages, metadata } = body
  try {
    return respond(agent.prompt(messages, metadata === undefined ? { signal } : { signal, metadata }))
  } catch (error) {
    if (error instanceof AgentBusyError) return problemResponse({ status: 409, code: 'busy', detail: error.message })
    if (error instanceof ConfigError && error.code === 'emptyPrompt') {
      return problemResponse({ status: 400, code: 'emptyPrompt', detail: error.message })
    }
    throw error
  }
}

function streamed(run: AgentRun, pingMs: number, options: SseOptions): Response {
  return new Response(sseStream(run, pingMs, options), {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      // Proxies such as nginx would collect the whole answer first.
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    },
  })
}

function isJson(contentType: string | undefined): boolean {
  return contentType?.split(';')[0]?.trim().toLowerCase() === 'application/json'
}

const unauthorized: Problem = {
  status: 401,
  code: 'unauthorized',
  detail: 'This request may not start a run. Send the credentials this server asks for.',
}
const notJson: Problem = { status: 415, code: 'unsupportedMediaType', detail: 'Send the body as content-type: application/json.' }

function tooLarge(maxBytes: number): Problem {
  return {
    status: 413,
    code: 'bodyTooLarge',
    detail: `The body has more than ${maxBytes} bytes. Send less, or raise maxBodyBytes on the server.`,
  }
}

/** Our own errors say what to do and hold no secret; nobody knows what others say, so it goes to the logger only. */
function agentFailed(error: Error): Problem {
  const detail = PhiError.isInstance(error) ? error.message : 'The agent could not be started; the reason went to the logger of the server.'
  return { status: 500, code: 'agentFailed', detail }
}
