import type { Context, Hono } from 'hono'
import { aLogger } from '../../../src/base/argument-checks.ts'
import { clientSettingFields } from '../../../src/contract/model/model-config.ts'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import {
  aFlag,
  aPositiveNumber,
  aText,
  listOf,
  namesOf,
  type OptionTable,
  oneOf,
  options as optionsOf,
  wholeFrom,
} from '../../../src/contract/shape/shape.ts'
import type { Logger } from '../../../src/index.ts'
import type { BodyLimits } from '../access/body.ts'
import type { ClientSettingName } from '../live/commands/client-ask.ts'
import type { SessionGateway } from '../live/gateway/session-gateway.ts'
import { OpenStreams } from '../stream/open-streams.ts'
import type { RunStreamOptions } from '../stream/run-stream.ts'
import { defaultPingMs } from '../stream/sse-stream.ts'

/** Default limits for routes. */
export const routeDefaults = {
  /** Enough for a 12 MB PDF in base64. The routes read bodies only after authentication. */
  maxBodyBytes: 16 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
  pingMs: defaultPingMs,
} as const

/** Limits for the routes, and the data that they expose. */
export interface RouteOptions {
  /** Maximum request body size in bytes. Default: 16 MiB, enough for a prompt with a 12 MB PDF. */
  maxBodyBytes?: number
  /** Maximum milliseconds to receive a request body. Default: 30,000. */
  bodyTimeoutMs?: number
  /** Maximum concurrent streams per caller. Default: 100, or 1,000 if the server has only one user. */
  maxOpenStreams?: number
  /** Maximum concurrent streams in total. Beyond this limit, the response is 503. Default: 10,000. */
  maxStreams?: number
  /**
   * Maximum event loop delay in milliseconds. Above this delay, new runs and readers get 503 with `Retry-After`. Steering, decisions and
   * stops still work. Default: no limit. 200 suits a dedicated process.
   */
  maxLagMs?: number
  /** Milliseconds between pings, which keep idle connections open and detect disconnected clients. Default: 15,000. */
  pingMs?: number
  /** Whether to send `turnRequest` events. They contain the system prompt and the whole request. Default: `false`. */
  turnRequests?: boolean
  /**
   * Whether `POST /sessions/:id/import` accepts exported sessions. Imported assistant and tool messages are trusted, and pending calls can
   * be approved. Default: `false`.
   */
  imports?: boolean
  /**
   * Settings that clients can set per prompt, such as `thinking` and `verbosity`. Rejects all other settings, by name. `maxTokens`,
   * `thinking` and `serviceTier` affect the cost most. Default: none.
   */
  clientSettings?: readonly ClientSettingName[]
  /**
   * Base URL of this app for clients, such as `https://agents.example/api` or `/api`. If set, `useChat` and AG-UI clients receive large
   * media as URLs instead of bytes. Browsers load images without custom headers, so `authorize` must accept a cookie. Default: none, so
   * clients receive bytes.
   */
  mediaBase?: string
  /** Logs failures to create an agent. Default: none. */
  logger?: Logger | false
}

export const routeTable: OptionTable<RouteOptions> = {
  maxBodyBytes: aPositiveNumber,
  bodyTimeoutMs: aPositiveNumber,
  maxOpenStreams: wholeFrom(1),
  maxStreams: wholeFrom(1),
  maxLagMs: aPositiveNumber,
  pingMs: aPositiveNumber,
  turnRequests: aFlag,
  imports: aFlag,
  mediaBase: aText,
  clientSettings: listOf(oneOf(...namesOf(clientSettingFields))),
  logger: aLogger,
}

/** Route options with defaults applied. */
export interface SessionRouteOptions extends RunStreamOptions {
  body: BodyLimits
  imports: boolean
  clientSettings: readonly ClientSettingName[]
  mediaBase: string | undefined
  logger: Logger | false | undefined
}

/** Applies defaults. Throws `ConfigError` `invalidOption`. */
export function checkedRoutes(options: RouteOptions): SessionRouteOptions {
  checkOptions(options, optionsOf<RouteOptions>(routeTable))
  return resolvedRoutes(options)
}

/** Applies defaults to validated options. */
export function resolvedRoutes({
  maxBodyBytes = routeDefaults.maxBodyBytes,
  bodyTimeoutMs = routeDefaults.bodyTimeoutMs,
  maxOpenStreams,
  maxStreams,
  maxLagMs,
  pingMs = routeDefaults.pingMs,
  turnRequests = false,
  imports = false,
  clientSettings = [],
  mediaBase,
  logger,
}: RouteOptions): SessionRouteOptions {
  const body = { maxBytes: maxBodyBytes, timeoutMs: bodyTimeoutMs }
  return {
    body,
    pingMs,
    turnRequests,
    imports,
    clientSettings,
    mediaBase,
    streams: new OpenStreams({ perCaller: maxOpenStreams, inAll: maxStreams, maxLagMs }),
    logger,
  }
}

/** A session's routes. Each request contains the session's gateway. */
export type SessionApp = Hono<{ Bindings: { gateway: SessionGateway } }>
export type SessionContext = Context<{ Bindings: { gateway: SessionGateway } }>
