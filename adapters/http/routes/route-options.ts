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

/** Default limits of routes. */
export const routeDefaults = {
  /** Enough for a PDF of 12 MB as base64. Bodies are read after authentication. */
  maxBodyBytes: 16 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
  pingMs: defaultPingMs,
} as const

/** Limits of routes, and the data they expose. */
export interface RouteOptions {
  /** Bytes of a request body. Default: 16 MiB, enough for a prompt with a PDF of 12 MB. */
  maxBodyBytes?: number
  /** Milliseconds until a request body must be complete. Default: 30,000. */
  bodyTimeoutMs?: number
  /** Concurrent streams of one caller. Default: 100; 1,000 for a single user. */
  maxOpenStreams?: number
  /** Concurrent streams of all callers; beyond it the response is 503. Default: 10,000. */
  maxStreams?: number
  /**
   * Milliseconds that the event loop may be late. While it is later, new runs and readers get 503 with `Retry-After`; steering,
   * decisions and stops work. Default: no limit. 200 suits a dedicated process.
   */
  maxLagMs?: number
  /** Milliseconds between pings, which keep an idle connection open and detect disconnected clients. Default: 15,000. */
  pingMs?: number
  /** Whether to send `turnRequest` events. They contain the system prompt and the whole request. Default: `false`. */
  turnRequests?: boolean
  /**
   * Whether `POST /sessions/:id/import` accepts exported sessions. Their assistant and tool messages are trusted then, and their
   * pending calls can be approved. Default: `false`.
   */
  imports?: boolean
  /**
   * Settings that clients may choose per prompt, such as `thinking` and `verbosity`. Others are refused by name. `maxTokens`,
   * `thinking` and `serviceTier` affect the cost most. Default: none.
   */
  clientSettings?: readonly ClientSettingName[]
  /**
   * Base URL of this app for clients, such as `https://agents.example/api` or `/api`. `useChat` and AG-UI then receive large
   * media as URLs instead of bytes. Browsers load pictures without custom headers, so `authorize` must accept a cookie. Default:
   * bytes.
   */
  mediaBase?: string
  /** Receives failures to start an agent. Default: none. */
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

/** The same with defaults applied. */
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

/** Applies defaults to checked options. */
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

/** The routes of a session; each request carries its gateway. */
export type SessionApp = Hono<{ Bindings: { gateway: SessionGateway } }>
export type SessionContext = Context<{ Bindings: { gateway: SessionGateway } }>
