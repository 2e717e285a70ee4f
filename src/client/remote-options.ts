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

/** How a lost connection is taken up again. */
export interface ReconnectOptions {
  /** Attempts in a row that bring nothing, after the first. Default 10. */
  maxRetries?: number
  /** Milliseconds before the first, at most: each wait is any part of the backoff. Default 500. */
  initialDelayMs?: number
  /** Milliseconds; caps the backoff, which doubles. Default 30,000. */
  maxDelayMs?: number
  /** Milliseconds without a byte, not even a ping, after which a connection counts as dead. Three pings of the server. Default 45,000. */
  idleTimeoutMs?: number
}

/** Headers of a request. Not `HeadersInit`: projects for Node have no such type. */
type RequestHeaders = Headers | Readonly<Record<string, string>>

/** Where a session is, and how it is reached. */
export interface RemoteSessionOptions {
  /** Where `createAgentApp` is mounted, such as `https://agents.example/api`. In a page it may be relative. */
  url: string
  /** Any id; a session begins with its first prompt. */
  sessionId: string
  /** Sends the requests. Default: the platform's. `app.fetch` reaches an app in the same process. */
  fetch?: (request: Request) => Response | Promise<Response>
  /** Sent with each request. A function is asked before each, so that tokens can be renewed, and once more after a 401. */
  headers?: RequestHeaders | (() => RequestHeaders | Promise<RequestHeaders>)
  reconnect?: ReconnectOptions
  /**
   * Names this page where it runs tools, a text of 8 to 100 characters that nobody can guess: of two pages that could run a call, the one that holds it is known by it. Where it stays the same over a
   * reload, a call goes on at once that the page ran before. Default: a new one.
   */
  clientId?: string
  /** Learns of lost connections, and of what could not be told to anybody. Default: the console; `false` silences. */
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

/** Throws `ConfigError` `invalidOption` for options that cannot work. */
export function checkRemoteOptions(given: RemoteSessionOptions): void {
  checkOptions(given, remoteOptions)
}

/** As they are sent. Throws `ConfigError` `invalidOption`, which holds no value: it may be a secret, and the platform's own words would quote it. */
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

/** Throws `ConfigError` `invalidOption` for what no run can be told, wherever its agent is. What the server lets its clients say, it says itself. */
export function checkChatOptions(given: ChatOptions): void {
  checkOptions(given, chatOptions)
}

/** How attempts are spaced. */
export interface Patience extends RetryConfig {
  idleTimeoutMs: number
}

/** With what was left out filled in. */
export function patienceOf({
  maxRetries = 10,
  initialDelayMs = 500,
  maxDelayMs = 30_000,
  idleTimeoutMs = 45_000,
}: ReconnectOptions): Patience {
  return { maxRetries, initialDelayMs, maxDelayMs, backoffMultiplier: 2, idleTimeoutMs }
}
