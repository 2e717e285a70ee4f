/** Why a request was refused: the body of an `application/problem+json` answer (RFC 9457). */
export interface Problem {
  /** HTTP status. */
  status: 400 | 401 | 403 | 404 | 408 | 409 | 410 | 413 | 415 | 429 | 500 | 503
  /** Stable and machine-readable. */
  code:
    | 'invalidBody'
    | 'emptyPrompt'
    | 'unauthorized'
    | 'foreignOrigin'
    | 'notLoopback'
    | 'busy'
    | 'notRunning'
    | 'nothingToContinue'
    | 'argumentsChanged'
    | 'bodyTooLarge'
    | 'bodyTooSlow'
    | 'unsupportedMediaType'
    | 'agentFailed'
    | 'storeFailed'
    | 'invalidCursor'
    | 'cursorExpired'
    | 'notFound'
    | 'gone'
    | 'invalidId'
    | 'exists'
    | 'invalidSession'
    | 'importsAreOff'
    | 'tooManyRuns'
    | 'tooManySessions'
    | 'tooManyStreams'
    | 'unavailable'
  /** What is wrong and what to do about it. Never a secret. */
  detail: string
  /** The loop whose events are gone. */
  loopId?: string
  /** The loop that goes on with it. */
  continuedBy?: string
}

/** The answer for a refused request. */
export function problemResponse(problem: Problem): Response {
  return Response.json(problem, {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  })
}

/** A problem on its way up to the one place that answers with it. */
export class ProblemError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail)
    this.name = 'ProblemError'
    this.problem = problem
  }
}

/** Refuses the request. */
export function refuse(status: Problem['status'], code: Problem['code'], detail: string): never {
  throw new ProblemError({ status, code, detail })
}

/** A host has no room for one more run. */
export const tooManyRuns: Problem = {
  status: 429,
  code: 'tooManyRuns',
  detail: 'As many runs are on as may be at once. Wait for one to end, stop one, or raise maxOpenRuns on the server.',
}

/** Who came in just before its session was closed. */
export const leaving: Problem = {
  status: 503,
  code: 'unavailable',
  detail: 'The session has just left the memory of this server. Ask again.',
}

/** A loop was named that the session does not have. */
export const unknownLoop: Problem = {
  status: 404,
  code: 'notFound',
  detail: 'The session has no such loop. Take loopId from its events, or from GET …/history.',
}
