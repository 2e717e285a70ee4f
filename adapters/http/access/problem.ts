/**
 * The body of an `application/problem+json` response (RFC 9457): why a request was refused. With 429 and 503 it says when to
 * retry.
 */
export type Problem = ProblemFields & (ForNow | ForGood)

/** A problem that passes: the server has no room, shuts down, or lacks something. */
interface ForNow {
  /** HTTP status. */
  status: 429 | 503
  /** Milliseconds until a retry may succeed; also sent as `Retry-After`. */
  retryAfterMs: number
}

interface ForGood {
  /** HTTP status. */
  status: 400 | 401 | 403 | 404 | 405 | 408 | 409 | 410 | 413 | 415 | 500 | 502 | 504
  /** Milliseconds until a retry may succeed, if any. */
  retryAfterMs?: number
}

interface ProblemFields {
  /** Stable, for programs. */
  code: ProblemCode
  /** What is wrong and what to do about it. Never contains a secret. */
  detail: string
  /** The loop whose events were released. */
  loopId?: string
  /** The loop that continues it. */
  continuedBy?: string
}

/** Codes of problems with a request or with the server. */
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

/** Creates the response for a refused request. */
export function problemResponse(problem: Problem): Response {
  const { status, retryAfterMs } = problem
  const headers = new Headers({ 'content-type': 'application/problem+json', 'cache-control': 'no-store' })
  if (retryAfterMs !== undefined) headers.set('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
  // Routes with a single method use POST.
  if (status === 405) headers.set('allow', 'POST')
  return new Response(JSON.stringify(problem), { status, headers })
}

/** A problem on its way to the error handler that sends it. */
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

/** Problem for a host that has no room for another run. */
export const tooManyRuns: Problem = {
  status: 429,
  code: 'tooManyRuns',
  detail: 'As many of your runs are on as may be at once. Wait for one to end, stop one, or raise maxOpenRuns on the server.',
  retryAfterMs: 5000,
}

/** Milliseconds until a retry, if something ends soon. */
export const soonMs = 1000

/** Problem for a request to a session that is being closed. */
export const leaving: Problem = {
  status: 503,
  code: 'unavailable',
  detail: 'The session has just left the memory of this server. Ask again.',
  retryAfterMs: soonMs,
}

/** Problem for a command to a server that shuts down. */
export const ending: Problem = {
  status: 503,
  code: 'unavailable',
  detail: 'This server is about to end. Ask again: the next one answers.',
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
  detail: 'There is no such route. The documentation of phi-core lists them.',
}

/** Problem for a loop that the session does not have. */
export const unknownLoop: Problem = {
  status: 404,
  code: 'notFound',
  detail: 'The session has no such loop. Take loopId from its events, or from GET …/history.',
}

/** Problem for a session without messages. */
export const unknownSession: Problem = {
  status: 404,
  code: 'notFound',
  detail: 'Nothing was said in this session yet. Send a prompt to …/runs.',
}

/** Problem for a session without shared state. */
export const unshared: Problem = {
  status: 404,
  code: 'notFound',
  detail: 'This session shares no state. Give its agent the option sharedState, and prompt it first.',
}
