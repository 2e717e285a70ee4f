import type { Context, Env, Hono } from 'hono'
import { aLogger } from '../../../src/base/argument-checks.ts'
import { logWarning } from '../../../src/base/log-warning.ts'
import { ownOf } from '../../../src/contract/json.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import {
  aFunction,
  aPositiveNumber,
  either,
  kind,
  listOf,
  oneOf,
  options as optionsOf,
  recordOf,
  required,
} from '../../../src/contract/shape/shape.ts'
import { ConfigError, type Logger } from '../../../src/index.ts'
import { aTime, patienceOf, withoutOwnTimeouts } from '../../../src/internal.ts'
import { type Authorize, callerOf } from '../access/authorize.ts'
import { newApp } from '../access/new-app.ts'
import { originGuard } from '../access/origin.ts'
import { type Problem, ProblemError, problemResponse, refuse } from '../access/problem.ts'
import { type Admission, aBudget, aBudgetRule, aCounter, admit, type BudgetCounter, memoryCounter, type ProxyBudget } from './budget.ts'
import { type CallBody, modelsNamedIn, readCallBody } from './call-body.ts'
import { passedHeaders } from './forward.ts'
import { assertMcpServers, mcpHostList } from './mcp-servers.ts'
import { isModelId, type PathCall, parsePathCall, protocols } from './protocols.ts'
import { type CallReport, relayCall } from './relayed-call.ts'
import { type AllowRule, anAllowRule, anUpstream, type ReadyUpstream, readyUpstream, type Upstream } from './upstream.ts'

/** An identity's budget. An `unlimited` budget must be set explicitly. */
export type BudgetRule =
  | ProxyBudget
  | 'unlimited'
  | ((identity: string | undefined) => ProxyBudget | 'unlimited' | Promise<ProxyBudget | 'unlimited'>)

/** Options for `createModelProxy`. `E` is Hono's environment: on Cloudflare `{ Bindings: … }`. */
export interface ModelProxyOptions<E extends Env = Env> {
  /**
   * Upstream providers by the first path segment. Clients set a factory's `baseUrl` to the proxy's URL plus this name.
   */
  upstreams: Readonly<Record<string, Upstream<E>>>
  /**
   * Authenticates a call. Return a name (for budgets), `true` for a single user, or anything else to reject the call. `loopbackOnly`
   * accepts requests from this machine. The function must not read the request body. See `callerToken`.
   */
  authorize: Authorize<E>
  /** Allowed models, per upstream. */
  allow: Readonly<Record<string, AllowRule>>
  /**
   * Hosts of MCP servers that providers may connect to for a call, such as `mcp.example.com` or `*.example.com`, and connector ids.
   * Default: none, which rejects calls that use a server.
   */
  mcpHosts?: readonly string[]
  /** Budget per identity, across all upstreams. */
  budget: BudgetRule
  /** Counts usage. Default: `memoryCounter()`, for one process. */
  counter?: BudgetCounter
  /** Origins whose pages can send calls, such as `https://app.example.com`. Default: only the proxy's own origin. */
  cors?: readonly string[]
  /** Maximum request body size in bytes. Default: 10 MiB. */
  maxBodyBytes?: number
  /**
   * Maximum milliseconds until the first byte of a response, or `false` for no limit. Default: 600,000, as in every factory.
   */
  firstByteTimeoutMs?: number | false
  /**
   * Maximum milliseconds between two bytes of a response, or `false` for no limit. Default: 300,000, as in every factory. A request body
   * may pause for at most 120,000.
   */
  idleTimeoutMs?: number | false
  /** Maximum total call duration in milliseconds. Default: 1,800,000. */
  maxDurationMs?: number
  /** Sends calls. Default: the global `fetch`, looked up at each call. */
  fetch?: typeof fetch
  /** Called after each accepted call. */
  onCall?: (report: CallReport) => void
  /** Logs failures. Default: none. */
  logger?: Logger | false
}

const anOrigin = kind(
  'an origin, such as https://app.example.com',
  (value) => typeof value === 'string' && URL.canParse(value) && new URL(value).origin === value,
)

const proxyOptions = optionsOf<ModelProxyOptions>({
  upstreams: required(recordOf(anUpstream)),
  authorize: required(either(oneOf('loopbackOnly'), aFunction)),
  allow: required(recordOf(anAllowRule)),
  mcpHosts: mcpHostList,
  budget: required(aBudgetRule),
  counter: aCounter,
  cors: listOf(anOrigin),
  maxBodyBytes: aPositiveNumber,
  firstByteTimeoutMs: aTime,
  idleTimeoutMs: aTime,
  maxDurationMs: aPositiveNumber,
  fetch: aFunction,
  onCall: aFunction,
  logger: aLogger,
})

/** Options for all calls. */
interface Settings<E extends Env> {
  options: ModelProxyOptions<E>
  counter: BudgetCounter
  maxBodyBytes: number
  firstByteTimeoutMs: number
  idleTimeoutMs: number
  maxDurationMs: number
}

/** Maximum pause of a request body in milliseconds. Short, because the client already has the whole body. */
const maxPauseMs = 120_000

/**
 * Creates a Hono app that forwards model calls and adds the API key. Serve its `fetch`, or mount it with `app.route('/models', …)`. To use
 * it with any factory from `phi-core/providers`, set `baseUrl` to the proxy's URL plus the upstream's name.
 *
 * **Contract**
 * - Rejects before sending anything. Unauthorized callers get 401, pages from other origins and MCP servers not in `mcpHosts` 403.
 *   Disallowed models get 404 in the provider's format. Unknown paths and methods get 404 and 405. Bodies that are too long, too slow or
 *   ambiguous get 413, 408 and 400. Calls over budget get 429 with `retry-after`. Except for models, these responses are
 *   `application/problem+json`.
 * - Builds the upstream URL from the server's `baseUrl` and the validated model. Forwards no other part of the path, no headers that
 *   identify the client, and no unknown query parameters. Does not follow redirects.
 * - Forwards responses byte for byte, at the client's pace. Ends the call if the client disconnects. Preserves the status of provider
 *   errors, and redacts the key.
 * - Throws `ConfigError` `invalidOption` for an invalid option, including an upstream without a rule in `allow`.
 *
 * Source: docs/guides/keys-and-proxies.md
 *
 * @example
 * ```ts
 * const proxy = createModelProxy({
 *   upstreams: { anthropic: { api: 'anthropicMessages', apiKey: process.env.ANTHROPIC_API_KEY ?? '' } },
 *   authorize: (c) => users.get(callerToken(c)),
 *   allow: { anthropic: ['claude-sonnet-*'] },
 *   budget: { windows: [{ ms: 86_400_000, tokens: 200_000 }] },
 * })
 * ```
 */
export function createModelProxy<E extends Env = Env>(options: ModelProxyOptions<E>): Hono<E> {
  checkOptions(options, proxyOptions)
  const { upstreams, allow, cors = [], counter = memoryCounter(), maxBodyBytes = 10 * 1024 * 1024, maxDurationMs = 1_800_000 } = options
  const ready = Object.entries(upstreams).map(([name, upstream]) => readyUpstream(name, upstream, ownOf(allow, name)))
  if (ready.length === 0) throw new ConfigError('invalidOption', 'The option upstreams is empty. Add at least one provider.')
  const stray = Object.keys(allow).find((name) => !Object.hasOwn(upstreams, name))
  if (stray !== undefined)
    throw new ConfigError('invalidOption', `allow.${stray} is for no upstream. There are: ${ready.map(({ name }) => name).join(', ')}.`)
  const [firstByteTimeoutMs, idleTimeoutMs] = [patienceOf(options, 'firstByteTimeoutMs'), patienceOf(options, 'idleTimeoutMs')]
  const settings: Settings<E> = { options, counter, maxBodyBytes, firstByteTimeoutMs, idleTimeoutMs, maxDurationMs }
  const app = newApp<E>()
  // Accept any request header, because unknown headers are not forwarded.
  const guard = originGuard({ allowed: cors, methods: ['POST'], exposed: passedHeaders })
  for (const upstream of ready) serve(app, upstream, settings, guard)
  app.notFound(() => problemResponse(notFound))
  app.onError((error) => {
    if (error instanceof ProblemError) return problemResponse(error.problem)
    logWarning(options.logger, 'proxyFailed', { message: ConfigError.isInstance(error) ? error.message : error.name })
    return problemResponse(proxyFailed)
  })
  return app
}

const notFound: Problem = {
  status: 404,
  code: 'notFound',
  detail:
    'The upstream does not exist, or its protocol has no such path. Set baseUrl to the proxy URL followed by the name of an upstream.',
}

const proxyFailed: Problem = {
  status: 500,
  code: 'proxyFailed',
  detail: "The proxy could not make the call. The server's log has the reason.",
}

function serve<E extends Env>(
  app: Hono<E>,
  upstream: ReadyUpstream<E>,
  settings: Settings<E>,
  guard: ReturnType<typeof originGuard>,
): void {
  const { name, api, baseUrl } = upstream
  app.use(`/${name}/*`, guard)
  for (const path of new Set(protocols[api].paths(baseUrl))) {
    app.all(`/${name}${path}`, (c) => answer(c, upstream, settings))
  }
  app.all(`/${name}/*`, async (c) => {
    await callerOf(c, settings.options.authorize)
    throw new ProblemError(notFound)
  })
}

async function answer<E extends Env>(c: Context<E>, upstream: ReadyUpstream<E>, settings: Settings<E>): Promise<Response> {
  const { options, counter, maxBodyBytes, firstByteTimeoutMs, idleTimeoutMs, maxDurationMs } = settings
  const pauseMs = Math.min(idleTimeoutMs, maxPauseMs)
  const { identity } = await callerOf(c, options.authorize)
  if (c.req.method !== 'POST') refuse(405, 'methodNotAllowed', 'Use POST to call a model.')
  const url = new URL(c.req.url)
  const path = parsePathCall(upstream.api, c.req.param(), url.pathname, url.searchParams)
  if (path === undefined) throw new ProblemError(notFound)
  const budget = await budgetOf(identity, options.budget)
  const admission = await admit({ counter, identity: identity ?? '', budget, maxDurationMs: pauseMs + maxDurationMs })
  let isHandedOn = false
  try {
    const body = await readCallBody(c.req.raw, { maxBytes: maxBodyBytes, timeoutMs: pauseMs })
    assertMcpServers(body.json, options.mcpHosts ?? [])
    const model = await allowedModel({ upstream, path, body, identity, admission })
    isHandedOn = true
    const { fetch: send = patientFetch, onCall, logger } = options
    return await relayCall(
      { c, upstream, path, model, body: body.text, admission, identity },
      { fetch: send, firstByteTimeoutMs, idleTimeoutMs, maxDurationMs, onCall, logger },
    )
  } catch (error) {
    if (!isHandedOn) await admission.withdraw().catch(() => undefined)
    throw error
  }
}

/** The global `fetch` without its own timeouts. */
const patientFetch: typeof fetch = (input, init) => fetch(input, { ...init, ...withoutOwnTimeouts() })

async function budgetOf(identity: string | undefined, rule: BudgetRule): Promise<ProxyBudget> {
  const budget = typeof rule === 'function' ? await rule(identity) : rule
  if (typeof rule === 'function') checkOptions(budget, aBudget, 'budget()')
  return budget === 'unlimited' ? { concurrent: Number.POSITIVE_INFINITY } : budget
}

interface Wanted<E extends Env> {
  upstream: ReadyUpstream<E>
  path: PathCall
  body: CallBody
  identity: string | undefined
  admission: Admission
}

/** Returns the model to call. Throws `ProblemError` if it, or any other model that the call selects, is not allowed. */
async function allowedModel<E extends Env>({ upstream, path, body, identity, admission }: Wanted<E>): Promise<string> {
  const models = [...(path.model === undefined ? [] : [path.model]), ...modelsNamedIn(body.json)]
  const model = path.model ?? body.json.model
  if (typeof model !== 'string') refuse(400, 'invalidBody', 'The body does not specify a model.')
  const call = { ...(identity !== undefined && { identity }), upstream: upstream.name, models, body: body.json }
  if (!models.every(isModelId) || (await upstream.isAllowed(call)) !== true) {
    refuse(
      404,
      'modelNotAllowed',
      `${upstream.name} does not allow ${JSON.stringify(models.join(', ').slice(0, 200))}. To allow it, change allow on the server.`,
    )
  }
  if (admission.countsUsd && upstream.priceOf(model) === undefined) {
    refuse(
      404,
      'priceUnknown',
      `The budget is in USD, but the price of ${JSON.stringify(model)} is unknown. Add it to upstreams.${upstream.name}.prices.`,
    )
  }
  return model
}
