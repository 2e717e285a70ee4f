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

/** What routes may cost where nothing else is said. */
export const routeDefaults = {
  /** Room for a PDF of 12 MB, as base64. A body is read once its caller was let in. */
  maxBodyBytes: 16 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
  pingMs: defaultPingMs,
} as const

/** What routes may cost, and what they show. */
export interface RouteOptions {
  /** Largest request body in bytes. Default 16 MiB: a prompt with a PDF of 12 MB. */
  maxBodyBytes?: number
  /** Milliseconds in which a body must be there. Default 30,000. */
  bodyTimeoutMs?: number
  /** Answers that stream to one caller at once. Default 100; 1,000 for the only user of a server. */
  maxOpenStreams?: number
  /** The same for all callers together; beyond it the answer is 503. Default 10,000. */
  maxStreams?: number
  /**
   * Milliseconds that the event loop may be late; while it is later, what would stream is refused with 503 and `Retry-After`: new runs, and readers. Steering,
   * decisions and stops go on. Default: no limit. 200 is a good one for a process of its own.
   */
  maxLagMs?: number
  /** Milliseconds between the comments that keep an idle connection open, and show that the client is still there. Default 15,000. */
  pingMs?: number
  /** Whether `turnRequest` events are sent. They hold the system prompt and everything the model is told. Default `false`. */
  turnRequests?: boolean
  /**
   * Whether `POST /sessions/:id/import` takes in sessions from elsewhere, as `exportSession` gives them. What they say that a model or a tool
   * said is then believed, and calls that wait in them can be approved. Default `false`.
   */
  imports?: boolean
  /**
   * Settings that clients may choose per prompt, such as `thinking` and `verbosity`. Any other is refused by name. They cost money: `maxTokens`, `thinking` and
   * `serviceTier` most of all. Default: none.
   */
  clientSettings?: readonly ClientSettingName[]
  /**
   * Where pages reach this app, such as `https://agents.example/api` or `/api`: `useChat` and AG-UI are then told of large media by their address there, not with
   * their bytes. Pages show pictures without headers of their own: `authorize` has to know a cookie. Default: the bytes.
   */
  mediaBase?: string
  /** Learns why an agent could not be started. Default: silence. */
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

/** The same with every default filled in. */
export interface SessionRouteOptions extends RunStreamOptions {
  body: BodyLimits
  imports: boolean
  clientSettings: readonly ClientSettingName[]
  mediaBase: string | undefined
  logger: Logger | false | undefined
}

/** Fills in the defaults. Throws `ConfigError` `invalidOption`. */
export function checkedRoutes(options: RouteOptions): SessionRouteOptions {
  checkOptions(options, optionsOf<RouteOptions>(routeTable))
  return resolvedRoutes(options)
}

/** Fills in the defaults of what was checked. */
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

/** The routes of a session; which one comes with each request. */
export type SessionApp = Hono<{ Bindings: { gateway: SessionGateway } }>
export type SessionContext = Context<{ Bindings: { gateway: SessionGateway } }>
