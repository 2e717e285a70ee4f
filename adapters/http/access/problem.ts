/**
 * Body of an `application/problem+json` response (RFC 9457), with the reason for a rejection. For 429 and 503, the body also states when to
 * retry.
 */
export type Problem = ProblemFields & (ForNow | ForGood)

/** A temporary problem: the server is at its limit, is shutting down, or lacks a resource. */
interface ForNow {
  /** HTTP status. */
  status: 429 | 503
  /** Milliseconds until a retry may succeed. Also sent as `Retry-After`. */
  retryAfterMs: number
}

interface ForGood {
  /** HTTP status. */
  status: 400 | 401 | 403 | 404 | 405 | 408 | 409 | 410 | 413 | 415 | 500 | 502 | 504
  /** Milliseconds until a retry may succeed, if any. */
  retryAfterMs?: number
}

interface ProblemFields {
  /** Stable, machine-readable code. */
  code: ProblemCode
  /** Describes the problem and how to fix it. Never contains a secret. */
  detail: string
  /** Id of the loop whose events the server has released. */
  loopId?: string
  /** Id of the loop that continues the released one. */
  continuedBy?: string
}

/** Problem codes for requests and for the server. */
export type ProblemCode = AnyProblem | SessionProblem | ProxyProblem

type AnyProblem =
  | 'invalidBody'
  | 'unauthorized'
  | 'foreignOrigin'
  | 'notLoopback'
  | 'notFound'
  | 'bodyTooLarge'
  | 'bodyTooSlow'
  | 'unsupportedMediaType'
  | 'tooManyStreams'
  | 'unavailable'
  | 'deadlineExceeded'

type SessionProblem =
  | 'emptyPrompt'
  | 'busy'
  | 'notRunning'
  | 'nothingToContinue'
  | 'argumentsChanged'
  | 'claimedElsewhere'
  | 'invalidState'
  | 'stateConflict'
  | 'agentFailed'
  | 'contextMissing'
  | 'storeFailed'
  | 'invalidCursor'
  | 'cursorExpired'
  | 'gone'
  | 'invalidId'
  | 'exists'
  | 'invalidSession'
  | 'importsAreOff'
  | 'settingNotAllowed'
  | 'choiceNotAllowed'
  | 'tooManyRuns'
  | 'tooManySessions'
  | 'tooManySchedules'

type ProxyProblem =
  | 'methodNotAllowed'
  | 'modelNotAllowed'
  | 'mcpServerNotAllowed'
  | 'priceUnknown'
  | 'overBudget'
  | 'proxyFailed'
  | 'upstreamUnreachable'
  | 'upstreamRedirected'
  | 'upstreamTimedOut'

/** Creates the response for a rejected request. */
export function problemResponse(problem: Problem): Response {
  const { status, retryAfterMs } = problem
  const headers = new Headers({ 'content-type': 'application/problem+json', 'cache-control': 'no-store' })
  if (retryAfterMs !== undefined) headers.set('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
  // Routes with a single method use POST.
  if (status === 405) headers.set('allow', 'POST')
  return new Response(JSON.stringify(problem), { status, headers })
}

/** Error with the problem that the error handler sends. */
export class ProblemError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail)
    this.name = 'ProblemError'
    this.problem = problem
  }
}

/** Throws a `ProblemError`. */
export function refuse(status: ForNow['status'], code: ProblemCode, detail: string, retryAfterMs: number): never
export function refuse(status: ForGood['status'], code: ProblemCode, detail: string, retryAfterMs?: number): never
export function refuse(status: Problem['status'], code: ProblemCode, detail: string, retryAfterMs?: number): never {
  if (status === 429 || status === 503) throw new ProblemError({ status, code, detail, retryAfterMs: retryAfterMs ?? soonMs })
  throw new ProblemError({ status, code, detail, ...(retryAfterMs !== undefined && { retryAfterMs }) })
}

/** Problem for a host without capacity for another run. */
export const tooManyRuns: Problem = {
  status: 429,
  code: 'tooManyRuns',
  detail: 'Your limit of concurrent runs is reached. Wait for one to end, stop one, or raise maxOpenRuns on the server.',
  retryAfterMs: 5000,
}

/** Milliseconds until a retry, if capacity becomes available soon. */
export const soonMs = 1000

/** Problem for a request to a session that is closing. */
export const leaving: Problem = {
  status: 503,
  code: 'unavailable',
  detail: 'This server has just evicted the session. Retry.',
  retryAfterMs: soonMs,
}

/** Problem for a command to a server that is shutting down. */
export const ending: Problem = {
  status: 503,
  code: 'unavailable',
  detail: 'This server is shutting down. Retry, so that another server responds.',
  retryAfterMs: soonMs,
}

/** Problem for a request whose outcome is unknown. */
export const deadlineExceeded: Problem = {
  status: 504,
  code: 'deadlineExceeded',
  detail:
    'The process that owns the session did not respond before the deadline. Retry with the same Idempotency-Key; the request runs once.',
  retryAfterMs: soonMs,
}

/** Problem for an unknown path. */
export const unknownRoute: Problem = {
  status: 404,
  code: 'notFound',
  detail: 'This route does not exist. See the HTTP API reference of phi-core.',
}

/** Problem for a loop that does not exist in the session. */
export const unknownLoop: Problem = {
  status: 404,
  code: 'notFound',
  detail: 'The session has no such loop. Use a loopId from its events or from GET …/history.',
}

/** Problem for a session without messages. */
export const unknownSession: Problem = {
  status: 404,
  code: 'notFound',
  detail: 'This session has no messages yet. Send a prompt to …/runs.',
}

/** Problem for a session without shared state. */
export const unshared: Problem = {
  status: 404,
  code: 'notFound',
  detail: 'This session has no shared state. Set sharedState on its agent, then send a prompt.',
}
