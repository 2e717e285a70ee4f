import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js'
import type { Context, Env, Hono } from 'hono'
import { parsedJson } from '../../../src/base/json/json-value.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aFlag, aPositiveNumber, aText, listOf, options as optionsOf, wholeFrom } from '../../../src/contract/shape/shape.ts'
import type { Authorize, Caller } from '../../http/index.ts'
import {
  answerProblems,
  assertJson,
  callerOf,
  type InDev,
  type Letting,
  lettingOf,
  lettingTable,
  newApp,
  originGuard,
  readSharedText,
  routeDefaults,
} from '../../http/internal.ts'
import { McpServing } from './mcp-server.ts'
import { McpSessions } from './mcp-sessions.ts'
import { checkOffers, type McpServerOptions, serverTable } from './offers.ts'

/** Options for `serveMcp`. `E` is Hono's environment: on Cloudflare `{ Bindings: … }`. */
export interface ServeMcpOptions<E extends Env = Env> extends McpServerOptions {
  /**
   * Authenticates a request, as in `createAgentApp`. Returns a name, or `true` for a single user (`bearer(secret)`). Anything else rejects
   * the request. `loopbackOnly` accepts requests from this machine, and prevents DNS rebinding.
   */
  authorize: Authorize<E>
  /** Path of the endpoint. Default: `/mcp`. */
  path?: string
  /** Origins whose web pages may send requests, such as `https://app.example`. Default: none. */
  cors?: readonly string[]
  /**
   * Whether clients have a session in this process. With a session, the server can send elicitation requests, and a client can resume a
   * broken connection. Use `false` on hosts that share no memory between requests. The server then denies calls that need an approval.
   * Default: `true`.
   */
  sessions?: boolean
  /** Milliseconds without activity after which a session is evicted. Default: 1,800,000. */
  idleMs?: number
  /** Maximum number of concurrent sessions. Default: 500. */
  maxSessions?: number
  /** Maximum number of concurrent sessions per caller. Default: 100, or `maxSessions` with a single user. */
  maxSessionsPerCaller?: number
  /** Maximum request body size in bytes. Default: 16 MiB. */
  maxBodyBytes?: number
  /** Milliseconds until a request body must be complete. Default: 30,000. */
  bodyTimeoutMs?: number
}

type AnyServeMcpOptions<E extends Env> = Omit<ServeMcpOptions<E>, 'authorize'> & Letting<E>

const serveMcpOptions = optionsOf<AnyServeMcpOptions<Env>>({
  ...serverTable,
  ...lettingTable,
  path: aText,
  cors: listOf(aText),
  sessions: aFlag,
  idleMs: aPositiveNumber,
  maxSessions: wholeFrom(1),
  maxSessionsPerCaller: wholeFrom(1),
  maxBodyBytes: aPositiveNumber,
  bodyTimeoutMs: aPositiveNumber,
})

/** An MCP server as a Hono app. */
export type McpApp<E extends Env = Env> = Hono<E> & {
  /** Closes all connections and stops their calls. */
  close(): Promise<void>
}

/** Response headers that web pages may read. */
const exposedHeaders = ['mcp-session-id', 'mcp-protocol-version', 'retry-after']

/**
 * Creates an MCP server over Streamable HTTP that serves agents, tools and skills: a Hono app with one path, for any runtime.
 *
 * **Contract**
 * - An agent becomes a tool with a `prompt`. The client receives progress and approval requests, and can cancel the call.
 * - Rejects callers that `authorize` does not accept. Before that, rejects web pages from other origins unless `cors` lists them. A session
 *   belongs to one caller.
 * - A call continues if its connection breaks. It ends when the client cancels it or ends the session.
 * - Throws `ConfigError` `invalidOption` for an invalid option.
 *
 * Source: docs/guides/mcp.md
 *
 * @example
 * ```ts
 * const app = serveMcp({ agents: { research: { description: 'Looks things up.', agent: () => new Agent({ model, tools }) } }, authorize: bearer(process.env.ACCESS_TOKEN) })
 * ```
 */
export function serveMcp<E extends Env = Env>(options: ServeMcpOptions<E> | InDev<ServeMcpOptions<E>>): McpApp<E>
export function serveMcp<E extends Env>(options: AnyServeMcpOptions<E>): McpApp<E> {
  checkOptions(options, serveMcpOptions)
  checkOffers(options)
  const authorize = lettingOf('serveMcp', options)
  const { path = '/mcp', cors = [], sessions: hasSessions = true, logger } = options
  const { idleMs = 1_800_000, maxSessions = 500, maxSessionsPerCaller } = options
  const { maxBodyBytes = routeDefaults.maxBodyBytes, bodyTimeoutMs = routeDefaults.bodyTimeoutMs } = options
  const sessions = new McpSessions(options, { idleMs, maxSessions, maxSessionsPerCaller })
  const app = newApp<E>()
  answerProblems(app, logger)
  app.use(path, originGuard({ allowed: cors, methods: ['GET', 'POST', 'DELETE'], exposed: exposedHeaders, logger }))
  app.all(path, async (c) => {
    const caller = await callerOf(c, authorize)
    const sent = await messagesIn(c, { maxBytes: maxBodyBytes, timeoutMs: bodyTimeoutMs })
    const sessionId = c.req.header('mcp-session-id')
    const transport = hasSessions
      ? sessionId !== undefined && !isBeginning(sent)
        ? sessions.of(sessionId, caller)
        : await beginning(sessions, caller, sent)
      : await forOneRequest(options, caller, c.req.raw.signal)
    return transport.handleRequest(c.req.raw, sent === undefined ? {} : { parsedBody: sent })
  })
  return Object.assign(app, { close: () => sessions.close() })
}

/** Returns the messages of a request, within the body limits. Returns nothing if there is no body, or if the transport rejects it. */
async function messagesIn(c: Context, limits: { maxBytes: number; timeoutMs: number }): Promise<unknown> {
  if (c.req.method !== 'POST') return undefined
  assertJson(c.req.raw)
  return parsedJson(await readSharedText(c, limits))
}

function isBeginning(sent: unknown): boolean {
  return (Array.isArray(sent) ? sent : [sent]).some((message) => isInitializeRequest(message))
}

/** Returns a transport for a client without a session. The transport rejects other requests. */
async function beginning(sessions: McpSessions, caller: Caller, sent: unknown): Promise<WebStandardStreamableHTTPServerTransport> {
  if (isBeginning(sent)) return sessions.begin(caller)
  return new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => crypto.randomUUID() })
}

/**
 * Creates a transport for one request. Calls stop when the client disconnects, because it could not cancel them in another request.
 */
async function forOneRequest(
  options: McpServerOptions,
  caller: Caller,
  signal: AbortSignal,
): Promise<WebStandardStreamableHTTPServerTransport> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  const { server } = new McpServing(options, caller)
  await server.connect(transport)
  signal.addEventListener('abort', () => void server.close(), { once: true })
  return transport
}
