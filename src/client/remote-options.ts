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

/** Backoff and timeout for reconnecting. */
export interface ReconnectOptions {
  /** Maximum consecutive retries without data. Default: 10. */
  maxRetries?: number
  /** First backoff in milliseconds. Each wait is a random fraction of the backoff. Default: 500. */
  initialDelayMs?: number
  /** Maximum backoff in milliseconds. The backoff doubles with each retry. Default: 30,000. */
  maxDelayMs?: number
  /** Milliseconds without data or a ping after which a connection counts as lost. Default: 45,000, which is three ping intervals. */
  idleTimeoutMs?: number
}

/** Request headers. Does not use `HeadersInit`, because Node projects lack that type. */
type RequestHeaders = Headers | Readonly<Record<string, string>>

/** Options for `remoteSession`: URL, session, headers and reconnection. */
export interface RemoteSessionOptions {
  /** Base URL of `createAgentApp`, such as `https://agents.example/api`. May be relative in a web page. */
  url: string
  /** Session id, chosen by the caller. The first prompt creates the session. */
  sessionId: string
  /** Function that sends the requests. Pass `app.fetch` to call an app in the same process. Default: the global `fetch`. */
  fetch?: (request: Request) => Response | Promise<Response>
  /** Headers of each request. A function is called before each request, so that it can refresh tokens, and again after a 401. */
  headers?: RequestHeaders | (() => RequestHeaders | Promise<RequestHeaders>)
  reconnect?: ReconnectOptions
  /**
   * Secret id that identifies this client when it claims client tool calls: 8 to 100 random characters. To continue claimed calls after a
   * reload, reuse the id. Default: a new id.
   */
  clientId?: string
  /** Receives lost connections and otherwise unreported errors. Default: the console. `false` disables logging. */
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

/** Throws `ConfigError` `invalidOption` for invalid options. */
export function checkRemoteOptions(given: RemoteSessionOptions): void {
  checkOptions(given, remoteOptions)
}

/**
 * Converts headers. Throws `ConfigError` `invalidOption`. The error omits the value, which may be a secret, so it does not include the
 * platform's message.
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

/** Throws `ConfigError` `invalidOption` for options that no agent accepts. The server validates the allowed choices. */
export function checkChatOptions(given: ChatOptions): void {
  checkOptions(given, chatOptions)
}

/** Backoff between attempts. */
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
