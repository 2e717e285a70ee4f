/** Why a request was refused before a run began: the body of an `application/problem+json` answer (RFC 9457). */
export interface Problem {
  /** HTTP status. */
  status: 400 | 401 | 409 | 413 | 415 | 500
  /** Stable and machine-readable. */
  code: 'invalidBody' | 'emptyPrompt' | 'unauthorized' | 'busy' | 'bodyTooLarge' | 'unsupportedMediaType' | 'agentFailed'
  /** What is wrong and what to do about it. Never a secret. */
  detail: string
}

/** The answer for a refused request. */
export function problemResponse(problem: Problem): Response {
  return Response.json(problem, {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  })
}
