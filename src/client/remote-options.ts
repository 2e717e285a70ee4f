import { aLogger } from '../base/argument-checks.ts'
import { clientSettingFields } from '../contract/model/model-config.ts'
import { choiceFields, headerFields } from '../contract/model/request-settings.ts'
import { clientId } from '../contract/run/run-facts.ts'
import type { RetryConfig } from '../contract/run/settings.ts'
import { sessionId } from '../contract/session/session.ts'
import { checkOptions } from '../contract/shape/read.ts'
import {
  aFunction,
  aPositiveNumber,
  aSignal,
  aText,
  either,
  json,
  options,
  required,
  wholeFrom,
  withMethods,
} from '../contract/shape/shape.ts'
import type { Logger } from '../types/logger.ts'
import type { ChatOptions } from '../types/run/chat-agent.ts'

/** Backoff and timeout of reconnects. */
export interface ReconnectOptions {
  /** Retries in a row that bring no data. Default: 10. */
  maxRetries?: number
  /** Milliseconds of the first backoff; each wait is a random part of the backoff. Default: 500. */
  initialDelayMs?: number
  /** Milliseconds; limits the backoff, which doubles. Default: 30,000. */
  maxDelayMs?: number
  /**
   * Milliseconds without data, not even a ping, until a connection counts as dead. Three pings of the server. Default: 45,000.
   */
  idleTimeoutMs?: number
}

/** Headers of a request. Not `HeadersInit`, which projects for Node lack. */
type RequestHeaders = Headers | Readonly<Record<string, string>>

/** Options of `remoteSession`: URL, session, headers and reconnects. */
export interface RemoteSessionOptions {
  /** Base URL of `createAgentApp`, such as `https://agents.example/api`. May be relative in a web page. */
  url: string
  /** Any id. The first prompt creates the session. */
  sessionId: string
  /** Sends the requests. Default: the global `fetch`. `app.fetch` calls an app in the same process. */
  fetch?: (request: Request) => Response | Promise<Response>
  /** Headers of each request. A function is called before each request, so that it can refresh tokens, and again after a 401. */
  headers?: RequestHeaders | (() => RequestHeaders | Promise<RequestHeaders>)
  reconnect?: ReconnectOptions
  /**
   * Secret id of this client for client tool calls: 8 to 100 random characters. The client that claims a call is identified by
   * it. Keep it over a reload to continue the calls of the client before. Default: a new id.
   */
  clientId?: string
  /** Receives lost connections and errors without another receiver. Default: the console; `false` disables it. */
  logger?: Logger | false
}

const requestHeaders = either(headerFields, withMethods('Headers', 'forEach', 'get'))

const remoteOptions = options<RemoteSessionOptions>({
  url: required(aText),
  sessionId: required(sessionId),
  fetch: aFunction,
  headers: either(aFunction, requestHeaders),
  reconnect: options<ReconnectOptions>({
    maxRetries: wholeFrom(0),
    initialDelayMs: aPositiveNumber,
    maxDelayMs: aPositiveNumber,
    idleTimeoutMs: aPositiveNumber,
  }),
  clientId,
  logger: aLogger,
})

/** Throws `ConfigError` `invalidOption` for wrong options. */
export function checkRemoteOptions(given: RemoteSessionOptions): void {
  checkOptions(given, remoteOptions)
}

/**
 * Converts headers. Throws `ConfigError` `invalidOption` without the value, which may be a secret; the platform's message would
 * quote it.
 */
export function sendableHeaders(given: RequestHeaders = {}): Headers {
  checkOptions(given, requestHeaders, 'headers')
  return new Headers(given)
}

const chatOptions = options<ChatOptions>({
  ...clientSettingFields,
  model: choiceFields.model,
  tools: choiceFields.tools,
  signal: aSignal,
  metadata: json,
})

/**
 * Throws `ConfigError` `invalidOption` for options that are wrong for every agent. The server checks what its clients may choose.
 */
export function checkChatOptions(given: ChatOptions): void {
  checkOptions(given, chatOptions)
}

/** Backoff of attempts. */
export interface Patience extends RetryConfig {
  idleTimeoutMs: number
}

/** Applies defaults. */
export function patienceOf({
  maxRetries = 10,
  initialDelayMs = 500,
  maxDelayMs = 30_000,
  idleTimeoutMs = 45_000,
}: ReconnectOptions): Patience {
  return { maxRetries, initialDelayMs, maxDelayMs, backoffMultiplier: 2, idleTimeoutMs }
}
