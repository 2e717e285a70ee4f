import { type Context, type Env, Hono } from 'hono'
import {
  aFlag,
  aFunction,
  aPositiveNumber,
  checkOptions,
  options as optionsOf,
  required,
  withMethods,
} from '../../src/base/check-options.ts'
import {
  type Agent,
  AgentBusyError,
  type AgentEvent,
  type AgentRun,
  ConfigError,
  CursorExpired,
  type Logger,
  PhiError,
} from '../../src/index.ts'
import { bodyText } from './body-text.ts'
import { type Problem, problemResponse } from './problem.ts'
import { parseRunBody, type RunBody } from './run-body.ts'
import { type SseStreamOptions, sseStream } from './sse-stream.ts'
import type { SseOptions } from './to-sse.ts'

/** What `createAgentApp` needs to know. `E` is Hono's environment: on Cloudflare `{ Bindings: … }`. */
export interface AgentAppOptions<E extends Env = Env> extends SseOptions {
  /** The agent that answers this request. Called once per request, after `authorize`. A problem is answered as it is. */
  agent: (c: Context<E>) => Agent | Problem | Promise<Agent | Problem>
  /** Whether this request may start a run, or read one. Default: everybody may, so leave it out only where nobody else can reach the server. */
  authorize?: (c: Context<E>) => boolean | Promise<boolean>
  /** Largest request body in bytes. Default 1 MiB. */
  maxBodyBytes?: number
  /** Milliseconds between the comments that keep an idle connection open, and show that the client is still there. Default 15,000. */
  pingMs?: number
  /**
   * Finds the run of an earlier request, so that clients can come back to it. With this a run goes on when its client leaves; whoever hosts it
   * stops it. A problem is answered as it is; `undefined` means 404.
   */
  resume?: (c: Context<E>, loopId: string) => AgentRun | Problem | undefined | Promise<AgentRun | Problem | undefined>
  /** Learns why an agent could not be started. Default: silence. */
  logger?: Logger
}

const agentAppOptions = optionsOf<AgentAppOptions>({
  agent: required(aFunction),
  authorize: aFunction,
  maxBodyBytes: aPositiveNumber,
  pingMs: aPositiveNumber,
  resume: aFunction,
  turnRequests: aFlag,
  logger: withMethods('a logger', 'warn'),
})

/**
 * An agent behind HTTP, as a Hono app: serve its `fetch`, or mount it with `app.route('/api', …)`.
 *
 * - `POST /runs` with `{ "prompt": "…", "metadata": … }` streams the events of one run as server-sent events (see `toSse`).
 * - `GET /runs/:loopId/events`, where `resume` finds runs, reads on after `Last-Event-ID` (or `?after=`), without which it gives everything
 *   remembered. A cursor that is too old is answered with 410 `cursorExpired`.
 *
 * **Contract**
 * - Before the first byte a failure is a problem body with its real status; afterwards it is an event of the run.
 * - The body must be `application/json`: a foreign web page cannot send that without asking first, so it cannot start runs on a server that
 *   its visitor can reach.
 * - Without `resume`, a client that goes away aborts its run: nobody could come back to it. So does an event that cannot be written as JSON.
 * - Throws `ConfigError` `invalidOption` for a wrong option.
 *
 * Source: docs/http-and-workers.md
 */
export function createAgentApp<E extends Env = Env>(options: AgentAppOptions<E>): Hono<E> {
  checkOptions(options, agentAppOptions)
  const { maxBodyBytes = 1024 * 1024, pingMs = 15_000 } = options
  const app = new Hono<E>()
  app.use('/runs/*', async (c, next) => {
    if (options.authorize !== undefined && !(await options.authorize(c))) return problemResponse(unauthorized)
    return next()
  })
  app.post('/runs', async (c) => {
    if (!isJson(c.req.header('content-type'))) return problemResponse(notJson)
    // Of the request as it came: it tells when the client goes.
    const { signal } = c.req.raw
    if (!(await isWithin(c, maxBodyBytes))) return problemResponse(tooLarge(maxBodyBytes))
    const { body, problem } = parseRunBody(await c.req.text())
    if (problem !== undefined) return problemResponse(problem)
    const agent = await options.agent(c)
    if ('detail' in agent) return problemResponse(agent)
    if (options.resume !== undefined) return start(agent, body, undefined, (run) => streamed(run, { ...options, pingMs }))
    return start(agent, body, signal, (run) => streamed(run, { ...options, pingMs, onCancel: (reason) => run.abort(reason) }))
  })
  const { resume } = options
  if (resume !== undefined) {
    app.get('/runs/:loopId/events', async (c) => {
      const found = await resume(c, c.req.param('loopId'))
      if (found === undefined) return problemResponse(unknownRun)
      if ('detail' in found) return problemResponse(found)
      return resumed(found, c.req.query('after') ?? c.req.header('last-event-id'), { ...options, pingMs })
    })
  }
  app.onError((error) => {
    options.logger?.warn('agentFailed', { message: error.message })
    return problemResponse(agentFailed(error))
  })
  return app
}

function start(agent: Agent, body: RunBody, signal: AbortSignal | undefined, respond: (run: AgentRun) => Response): Response {
  const { messages, metadata } = body
  try {
    return respond(agent.prompt(messages, { ...(signal !== undefined && { signal }), ...(metadata !== undefined && { metadata }) }))
  } catch (error) {
    if (AgentBusyError.isInstance(error)) return problemResponse({ status: 409, code: 'busy', detail: error.message })
    if (!ConfigError.isInstance(error)) throw error
    // All that is checked here is what the client sent.
    return problemResponse({ status: 400, code: error.code === 'emptyPrompt' ? 'emptyPrompt' : 'invalidBody', detail: error.message })
  }
}

/** Without a cursor, from the oldest event that is remembered. */
function resumed(run: AgentRun, cursor: string | undefined, options: SseStreamOptions): Response {
  if (cursor === undefined) return streamed(run, options)
  if (!/^\d{1,15}$/.test(cursor)) return problemResponse(invalidCursor)
  try {
    return streamed(run.events({ after: Number(cursor) }), options)
  } catch (error) {
    if (error instanceof CursorExpired) return problemResponse({ status: 410, code: 'cursorExpired', detail: error.message })
    throw error
  }
}

function streamed(events: AsyncIterable<AgentEvent>, options: SseStreamOptions): Response {
  return new Response(sseStream(events, options), {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      // Proxies such as nginx would collect the whole answer first.
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    },
  })
}

/** Whether the body has at most `maxBytes`. It can be read afterwards, by `agent` too; where `authorize` has read it, it is there already. */
async function isWithin<E extends Env>(c: Context<E>, maxBytes: number): Promise<boolean> {
  if (c.req.raw.body === null || c.req.raw.bodyUsed) return true
  const body = await bodyText(c.req.raw, maxBytes)
  if (body !== undefined) c.req.raw = new Request(c.req.raw, { body })
  return body !== undefined
}

function isJson(contentType: string | undefined): boolean {
  return contentType?.split(';')[0]?.trim().toLowerCase() === 'application/json'
}

const unauthorized: Problem = {
  status: 401,
  code: 'unauthorized',
  detail:
    'This request may not start or read a run. Send the credentials this server asks for. Where its secret is unset or too short, nobody may.',
}
const unknownRun: Problem = { status: 404, code: 'notFound', detail: 'There is no such run. Take loopId from its events.' }
const invalidCursor: Problem = { status: 400, code: 'invalidCursor', detail: 'Last-Event-ID is no cursor. Send the last id you received.' }
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
