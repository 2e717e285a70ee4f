import type { Context, Env, Hono } from 'hono'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import {
  aFlag,
  aFunction,
  aText,
  either,
  listOf,
  oneOf,
  options as optionsOf,
  recordOf,
  required,
} from '../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../src/index.ts'
import type { CallerRequest, InstructionsPlace } from '../../../src/internal.ts'
import { readCompletionRequest, readResponseRequest, responseIn } from '../../../src/ui/openai.ts'
import { problemOf } from '../access/answer-problems.ts'
import { type Authorize, type Caller, callerOf, type InDev, type Letting, lettingOf, lettingTable } from '../access/authorize.ts'
import { readJsonObject } from '../access/body.ts'
import { newApp } from '../access/new-app.ts'
import { originGuard } from '../access/origin.ts'
import { type Problem, ProblemError } from '../access/problem.ts'
import { type LiveSessions, liveSessions } from '../live/live-sessions.ts'
import { contextFrom, contextRequest, type MakeContext } from '../live/run-context.ts'
import { type MakeAgent, statelessRun } from '../one-shot/stateless-run.ts'
import { type RouteOptions, resolvedRoutes, routeTable, type SessionRouteOptions } from '../routes/route-options.ts'
import { sessionRoutes } from '../routes/session-routes.ts'
import { fetchIn, hostIn } from '../routes/sessions.ts'
import { accepted, callerSettings } from './caller-request.ts'
import { chatAnswer, responseAnswer, sessionHeader } from './openai-answer.ts'
import { inTheirWords, OpenAiRefusal, problemAsError, refusalResponse, refuseCaller, refuseResponse } from './openai-error.ts'

/** An agent served as a model. Requires `agent`, `sessions`, or both. */
export interface ServedAgent<E extends Env = Env> {
  /** Handles requests that contain the whole conversation. */
  agent?: MakeAgent<E>
  /** The session host, for requests that continue a stored conversation. */
  sessions?: LiveSessions | ((c: Context<E>) => LiveSessions)
}

/** Options for `createOpenAiApp`. `E` is Hono's environment: on Cloudflare `{ Bindings: … }`. */
export interface OpenAiAppOptions<E extends Env = Env> extends Omit<RouteOptions, 'turnRequests' | 'imports'> {
  /**
   * Authenticates a request, as in `createAgentApp`. Clients send their key as `Authorization: Bearer …`. Return a name to separate
   * callers' conversations, `true` on a server with a single user (as `bearer(secret)` does), or anything else to reject the request.
   */
  authorize: Authorize<E>
  /** Agents by the model name that callers use. A function is shorthand for `{ agent }`. */
  agents: Readonly<Record<string, MakeAgent<E> | ServedAgent<E>>>
  /**
   * Determines how callers' system and developer messages are handled. `asUser` sends them as user messages, with the same authority.
   * `append` adds them after the agent's system prompt, so they can change its behavior; in stored conversations, `append` works like
   * `asUser`. Default: `asUser`.
   */
  callerInstructions?: InstructionsPlace
  /** Whether callers can define and run their own tools. The model sees their descriptions. Default: `true`. */
  callerTools?: boolean
  /** Returns the `context` of a run, as for `createAgentApp`. Default: none. */
  context?: MakeContext<E>
  /** Origins whose web pages may send requests, such as `https://app.example`. Default: none. */
  cors?: readonly string[]
}

const { turnRequests: _shown, imports: _taken, ...ofRoutes } = routeTable
const servedAgent = optionsOf<ServedAgent>({
  agent: aFunction,
  sessions: either(liveSessions, aFunction),
})
type AnyOpenAiAppOptions<E extends Env> = Omit<OpenAiAppOptions<E>, 'authorize'> & Letting<E>

const openAiAppOptions = optionsOf<AnyOpenAiAppOptions<Env>>({
  ...lettingTable,
  agents: required(recordOf(either(aFunction, servedAgent))),
  callerInstructions: oneOf('asUser', 'append'),
  callerTools: aFlag,
  context: aFunction,
  cors: listOf(aText),
  ...ofRoutes,
})

/**
 * Creates a Hono app that serves agents as models over OpenAI's API: `POST /v1/chat/completions`, `POST /v1/responses` and `GET
 * /v1/models`. Serve its `fetch`, or mount it with `app.route('/', …)` next to `createAgentApp`.
 *
 * **Contract**
 * - The agent's own tools run on the server. A call to a caller's tool ends the response, and the next request contains its result.
 * - A request that continues a conversation (`x-session-id`, `conversation`, `previous_response_id`) sends only new messages. Any other
 *   request sends all messages, and its run stops if the client disconnects.
 * - Rejects settings that callers must not set, by name. All errors have OpenAI's format, even within a stream.
 * - Throws `ConfigError` `invalidOption` for an invalid option.
 *
 * Source: docs/guides/openai-endpoint.md
 *
 * @example
 * ```ts
 * const app = createOpenAiApp({ agents: { support: () => new Agent({ model, tools }) }, authorize: bearer(process.env.ACCESS_TOKEN) })
 * ```
 */
export function createOpenAiApp<E extends Env = Env>(options: OpenAiAppOptions<E> | InDev<OpenAiAppOptions<E>>): Hono<E>
export function createOpenAiApp<E extends Env>(options: AnyOpenAiAppOptions<E>): Hono<E> {
  checkOptions(options, openAiAppOptions)
  const authorize = lettingOf('createOpenAiApp', options)
  const {
    agents: given,
    authorize: _given,
    dev: _dev,
    callerInstructions = 'asUser',
    callerTools = true,
    context,
    cors = [],
    ...others
  } = options
  const agents = new Map(Object.entries(given).map(([name, served]) => [name, servedBy(name, served)]))
  const routes = resolvedRoutes(others)
  const app = newApp<E>()
  app.notFound(() => problemAsError(unknownRoute))
  app.onError((error) => (error instanceof OpenAiRefusal ? refusalResponse(error) : problemAsError(problemOf(error, options.logger))))
  app.use(
    '/v1/*',
    originGuard({ allowed: cors, methods: ['GET', 'POST'], exposed: ['retry-after', sessionHeader], logger: options.logger }),
  )
  const ready: ReadyApp<E> = {
    agents,
    routes,
    callerInstructions,
    callerTools,
    context,
    access: (c) => callerOf(c, authorize),
    created: Math.floor(Date.now() / 1000),
  }
  addModels(app, ready)
  addAnswers(app, ready)
  return app
}

const unknownRoute: Problem = {
  status: 404,
  code: 'notFound',
  detail: 'This route does not exist. Agents serve /v1/chat/completions and /v1/responses, and /v1/models lists them.',
}

/** The resolved options. */
interface ReadyApp<E extends Env> {
  agents: ReadonlyMap<string, ServedAgent<E>>
  routes: SessionRouteOptions
  callerInstructions: InstructionsPlace
  callerTools: boolean
  context: MakeContext<E> | undefined
  access: (c: Context<E>) => Promise<Caller>
  /** Start time in epoch seconds, reported as each model's `created`. */
  created: number
}

function servedBy<E extends Env>(name: string, served: MakeAgent<E> | ServedAgent<E>): ServedAgent<E> {
  const ready = typeof served === 'function' ? { agent: served } : served
  if (ready.agent === undefined && ready.sessions === undefined) {
    throw new ConfigError('invalidOption', `agents.${name} has neither agent nor sessions. Pass at least one.`)
  }
  return ready
}

function addModels<E extends Env>(app: Hono<E>, { agents, access, created }: ReadyApp<E>): void {
  const modelOf = (id: string) => ({ id, object: 'model', created, owned_by: 'phi-core' })
  app.get('/v1/models', async (c) => {
    await access(c)
    return c.json({ object: 'list', data: [...agents.keys()].map(modelOf) })
  })
  app.get('/v1/models/:id', async (c) => {
    await access(c)
    const id = c.req.param('id') ?? ''
    if (!agents.has(id)) refuseModel(id)
    return c.json(modelOf(id))
  })
}

function refuseModel(model: string): never {
  const message = `The model ${JSON.stringify(model.slice(0, 100))} does not exist or you do not have access to it. See GET /v1/models.`
  throw new OpenAiRefusal(404, { message, param: 'model', code: 'model_not_found' })
}

function addAnswers<E extends Env>(app: Hono<E>, ready: ReadyApp<E>): void {
  const { access, routes, callerInstructions, callerTools, context } = ready
  const servedOf = (model: string): ServedAgent<E> => ready.agents.get(model) ?? refuseModel(model)
  const session = sessionRoutes(routes)
  const hosts = new Map([...ready.agents.values()].map((served) => [served, served.sessions && hostIn(served.sessions, context)]))
  /** Starts a run for a request with its whole conversation. */
  const begin = async (c: Context<E>, caller: Caller, request: CallerRequest, { agent }: ServedAgent<E>) => {
    if (agent === undefined)
      refuseCaller({
        message: `This agent requires a conversation id. Send it in the ${sessionHeader} header or the "conversation" field.`,
      })
    const settings = callerSettings(request, routes.clientSettings)
    routes.streams.assertRoom(caller)
    const made = await agent(c, caller)
    if ('detail' in made) throw new ProblemError(made)
    const own = context && (await contextFrom(context, c, contextRequest('start', { ...caller, sessionId: made.sessionId })))
    const begun = statelessRun(made, request, { settings, callerTools, own: own ?? {} }, c.req.raw.signal)
    return { ...begun, streaming: { ...routes, caller } }
  }
  const inSession = async (c: Context<E>, caller: Caller, sessionId: string, path: string, served: ServedAgent<E>, body?: object) => {
    const hostOf = hosts.get(served)
    if (hostOf === undefined)
      refuseCaller({ message: 'This agent does not store conversations. Send the whole conversation with each request.' })
    const { headers, signal } = c.req.raw
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const request = new Request(new URL(path, c.req.url), { headers, signal, ...sent })
    return inTheirWords(await fetchIn(hostOf(c), { address: { ...caller, sessionId }, request, routes: session, c, context }))
  }
  app.post('/v1/chat/completions', async (c) => {
    const caller = await access(c)
    const body = await readJsonObject(c, routes.body)
    const request = accepted(readCompletionRequest(body, { callerInstructions, isKept: c.req.header(sessionHeader) !== undefined }))
    const served = servedOf(request.model)
    const sessionId = c.req.header(sessionHeader)
    if (sessionId !== undefined) return inSession(c, caller, sessionId, '/openai/chat/completions', served, body)
    return chatAnswer(request, await begin(c, caller, request, served))
  })
  app.post('/v1/responses', async (c) => {
    const caller = await access(c)
    const body = await readJsonObject(c, routes.body)
    const request = accepted(readResponseRequest(body, { callerInstructions, isKept: c.req.header(sessionHeader) !== undefined }))
    const served = servedOf(request.model)
    // Do not store a conversation with assistant messages, because this server did not produce those messages.
    const isNew = request.messages.every(({ role }) => role === 'user') && request.tools.length === 0
    const named = request.place?.sessionId ?? c.req.header(sessionHeader)
    const isKept = named !== undefined || (request.mayStore && isNew && served.sessions !== undefined)
    if (request.isBackground && !isKept)
      refuseCaller({
        param: 'background',
        message: 'A background response requires a stored conversation. Specify a conversation, or send only the new message.',
      })
    if (isKept) return inSession(c, caller, named ?? crypto.randomUUID(), '/openai/responses', served, body)
    return responseAnswer(request, await begin(c, caller, request, served))
  })
  app.get('/v1/responses/:id', async (c) => {
    const caller = await access(c)
    const id = c.req.param('id') ?? ''
    if (c.req.query('stream') === 'true')
      refuseCaller({ param: 'stream', message: 'Streaming is not supported here. Poll the response until its status changes.' })
    const named = responseIn(id)
    const served = named === undefined ? undefined : ready.agents.get(named.model)
    if (named === undefined || served?.sessions === undefined) refuseResponse(id)
    return inSession(c, caller, named.sessionId, `/openai/responses/${id}`, served)
  })
}
