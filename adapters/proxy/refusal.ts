/** Why the proxy itself refused a call: the body of an `application/problem+json` answer (RFC 9457). What a service says is passed as it is. */
export interface ProxyProblem {
  /** HTTP status. */
  status: 400 | 401 | 403 | 404 | 405 | 408 | 413 | 415 | 429 | 500 | 502 | 503 | 504
  /** Stable and machine-readable. */
  code:
    | 'invalidBody'
    | 'unauthorized'
    | 'foreignOrigin'
    | 'modelNotAllowed'
    | 'priceUnknown'
    | 'notFound'
    | 'methodNotAllowed'
    | 'bodyTooLarge'
    | 'bodyTooSlow'
    | 'unsupportedMediaType'
    | 'overBudget'
    | 'tooManyStreams'
    | 'proxyFailed'
    | 'upstreamUnreachable'
    | 'upstreamRedirected'
    | 'upstreamTimedOut'
    | 'unavailable'
  /** What is wrong and what to do about it. Never a secret. */
  detail: string
}

/** A refusal on its way up to the one place that answers with it. */
export class Refusal extends Error {
  readonly problem: ProxyProblem
  /** Milliseconds after which another try may succeed. */
  readonly retryAfterMs: number | undefined

  constructor(status: ProxyProblem['status'], code: ProxyProblem['code'], detail: string, retryAfterMs?: number) {
    super(detail)
    this.name = 'Refusal'
    this.problem = { status, code, detail }
    this.retryAfterMs = retryAfterMs
  }
}

/** The answer for a refused call. */
export function refusalResponse({ problem, retryAfterMs }: Refusal): Response {
  const headers = new Headers({ 'content-type': 'application/problem+json', 'cache-control': 'no-store' })
  if (retryAfterMs !== undefined) headers.set('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))))
  if (problem.status === 405) headers.set('allow', 'POST')
  return new Response(JSON.stringify(problem), { status: problem.status, headers })
}
