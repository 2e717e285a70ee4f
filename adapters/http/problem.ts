/** Why a request was refused: the body of an `application/problem+json` answer (RFC 9457). */
export interface Problem {
  /** HTTP status. */
  status: 400 | 401 | 404 | 409 | 410 | 413 | 415 | 429 | 500 | 503
  /** Stable and machine-readable. */
  code:
    | 'invalidBody'
    | 'emptyPrompt'
    | 'unauthorized'
    | 'busy'
    | 'bodyTooLarge'
    | 'unsupportedMediaType'
    | 'agentFailed'
    | 'invalidCursor'
    | 'cursorExpired'
    | 'notFound'
    | 'gone'
    | 'invalidId'
    | 'tooManyRuns'
    | 'unavailable'
  /** What is wrong and what to do about it. Never a secret. */
  detail: string
  /** The loop that goes on with a run whose events are gone. */
  continuedBy?: string
}

/** The answer for a refused request. */
export function problemResponse(problem: Problem): Response {
  return Response.json(problem, {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  })
}
