import { hasHalf } from '../../../../src/base/text/characters.ts'
import { startTimer } from '../../../../src/base/timer.ts'
import { fieldIn } from '../../../../src/contract/json.ts'
import { checkOptions } from '../../../../src/contract/shape/read.ts'
import { aFunction, anything, kind, options as optionsOf, required, wholeFrom, withMethods } from '../../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../../src/index.ts'
import { assertSessionId, SessionError } from '../../../../src/session.ts'
import { type Caller, type LiveSessions, type Problem, problemResponse } from '../../../http/index.ts'
import { deadlineExceeded, defaultForwardMs, soonMs } from '../../../http/internal.ts'
import { durableObjectSessionStore } from '../object/durable-object-session-store.ts'
import { isRetryable, retryDelay } from '../object/object-call.ts'
import { addressed, defaultTenant, type ObjectAddress, objectName, tenantOf } from '../object/session-address.ts'
import type { ObjectNamespace } from '../workers-platform.ts'

/** The object that a client's request is sent to. */
export interface ForwardOptions {
  /** Binding of a class that extends `LiveSessionObject`. */
  sessions: ObjectNamespace
  sessionId: string
  /** Tenant, as for `durableObjectSessionStore`. Default: `default`. */
  tenant?: string
  /** Path within the session: `/`, `/runs`, `/runs/…/events`, `/stop`. Keeps the request's query. */
  path: string
  /**
   * Maximum milliseconds until the object begins its response. After that, the response is 504 `deadlineExceeded`. A response that is not
   * streamed begins when its run has ended. Default: 600,000.
   */
  timeoutMs?: number
}

const forwardOptions = optionsOf<ForwardOptions>({
  sessions: required(withMethods('the binding of a Durable Object', 'getByName')),
  // Set by the client, so errors are part of the response.
  sessionId: anything,
  tenant: anything,
  path: anything,
  timeoutMs: wholeFrom(1),
})
const aRequest = kind('a Request', (value) => value instanceof Request)

/**
 * Forwards a request to its live session (see `LiveSessionObject`). Authenticate the client first, because `tenant` and `sessionId` alone
 * determine which data it can read and whose tokens it spends.
 *
 * **Contract**
 * - `sessionId` and `path` may come from the client. Responds with 400 `invalidId` to an invalid id, and with 404 to an unknown path.
 * - Responds within `timeoutMs`. A request that reaches the object later starts nothing.
 * - If an object ends during a request without a body, the request is retried. Otherwise, the response is 503 `unavailable`.
 * - Rejects with `ConfigError` if `tenant` is not a string. Derive it from the authenticated user, not from client input.
 */
export async function forwardToSession(request: Request, options: ForwardOptions): Promise<Response> {
  checkOptions(request, aRequest, 'request')
  checkOptions(options, forwardOptions)
  const { sessions, sessionId, tenant = defaultTenant, path, timeoutMs = defaultForwardMs } = options
  assertTenant(tenant)
  try {
    assertSessionId(sessionId)
  } catch (error) {
    if (!SessionError.isInstance(error)) throw error
    return problemResponse({ status: 400, code: 'invalidId', detail: error.message })
  }
  const url = new URL('https://session')
  // Do not resolve the path against a base, because a path that starts with two slashes would select a host.
  url.pathname = path
  url.search = new URL(request.url).search
  const address = { tenant, sessionId }
  const forwarded = new Request(new Request(url, request), { headers: addressed(request.headers, address, Date.now() + timeoutMs) })
  return withTimeout(timeoutMs, deliver(sessions, address, forwarded))
}

/** Returns the response if it begins in time. Otherwise, discards it. */
function withTimeout(timeoutMs: number, answering: Promise<Response>): Promise<Response> {
  return new Promise((resolve, reject) => {
    let isLate = false
    const stopTimer = startTimer(timeoutMs, () => {
      isLate = true
      resolve(problemResponse(deadlineExceeded))
    })
    answering.finally(stopTimer).then((answer) => {
      if (isLate) answer.body?.cancel().catch(() => undefined)
      else resolve(answer)
    }, reject)
  })
}

async function deliver(sessions: ObjectNamespace, address: ObjectAddress, request: Request): Promise<Response> {
  const isRepeatable = request.body === null && request.method === 'GET'
  for (let attempt = 1; ; attempt++) {
    try {
      // A stub that has failed once stays broken.
      return await sessions.getByName(objectName(address)).fetch(isRepeatable ? request.clone() : request)
    } catch (error) {
      // Rethrow a bug in the class, so that it appears in the platform's logs instead of a response.
      if (!isRetryable(error) && !isOverloaded(error)) throw error
      if (!isRepeatable || !isRetryable(error) || !(await retryDelay(attempt))) return problemResponse(unavailable)
    }
  }
}

function assertTenant(tenant: unknown): asserts tenant is string {
  if (typeof tenant === 'string' && tenant !== '' && !hasHalf(tenant)) return
  throw new ConfigError('invalidOption', `tenant is ${JSON.stringify(tenant)}. Pass the signed-in user as a string, or omit it.`)
}

function isOverloaded(error: unknown): boolean {
  return fieldIn(error, 'overloaded') === true
}

const unavailable: Problem = {
  status: 503,
  code: 'unavailable',
  detail: 'The session object stopped during the request, or is overloaded. Read the session before you retry.',
  retryAfterMs: soonMs,
}

/** Options for `objectLiveSessions`. */
export interface ObjectLiveSessionsOptions {
  /** Binding of a class that extends `LiveSessionObject`. */
  sessions: ObjectNamespace
  /** Binding of `IndexObject`. The class must return it from `index()`. Otherwise, no sessions are listed. */
  index: ObjectNamespace
  /** Returns a caller's tenant. Default: `user:` and the identity, or `default` for a single user. */
  tenant?: (caller: Caller) => string
}

const aBinding = required(withMethods('a binding of Durable Objects', 'getByName'))
const liveOptions = optionsOf<ObjectLiveSessionsOptions>({ sessions: aBinding, index: aBinding, tenant: aFunction })

/**
 * Creates live sessions in one Durable Object each, for the `sessions` option of `createAgentApp` and `createWorker` on Cloudflare.
 *
 * **Contract**
 * - Callers with different identities never access the same object, unless `tenant` maps them to the same tenant.
 *
 * Source: docs/guides/serve-over-http.md
 */
export function objectLiveSessions(options: ObjectLiveSessionsOptions): LiveSessions {
  checkOptions(options, liveOptions)
  const { sessions, index, tenant = ({ identity }) => tenantOf(identity) } = options
  return {
    fetch: ({ sessionId, ...caller }, request) =>
      forwardToSession(request, { sessions, sessionId, tenant: tenant(caller), path: new URL(request.url).pathname }),
    list: (caller, page) => durableObjectSessionStore({ sessions, index, tenant: tenant(caller) }).list(page),
  }
}
