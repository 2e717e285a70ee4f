import type { CallerFault, RunFailed } from '../../../src/internal.ts'
import type { OpenAiError } from '../../../src/ui/openai.ts'
import type { Problem } from '../access/problem.ts'

/** A request that is refused in the words of OpenAI's API, on its way up to the one place that answers with it. */
export class OpenAiRefusal extends Error {
  readonly status: 400 | 404
  readonly fault: CallerFault

  constructor(status: 400 | 404, fault: CallerFault) {
    super(fault.message)
    this.name = 'OpenAiRefusal'
    this.status = status
    this.fault = fault
  }
}

/** Refuses a request that cannot be answered as it is. */
export function refuseCaller(fault: CallerFault): never {
  throw new OpenAiRefusal(400, fault)
}

/** Refuses to give a response that there is not. */
export function refuseResponse(id: string): never {
  throw new OpenAiRefusal(404, { message: `Response with id ${JSON.stringify(id.slice(0, 100))} not found.`, param: 'id' })
}

/** The answer to a request that was refused in their words. */
export function refusalResponse({ status, fault }: OpenAiRefusal): Response {
  const { message, param = null, code = null } = fault
  return errorResponse(status, { message, type: 'invalid_request_error', param, code })
}

/** The answer to one whose run has failed. `isSaid`: the session has the prompt, so that a client that asks again would say it twice. */
export function failureResponse({ status, error }: RunFailed, isSaid: boolean): Response {
  return errorResponse(status, error, isSaid ? { 'x-should-retry': 'false' } : {})
}

/** What clients of OpenAI look at by name. Others have their own name, spelled as theirs are. */
const codes: Partial<Record<Problem['code'], string>> = {
  unauthorized: 'invalid_api_key',
  tooManyRuns: 'rate_limit_exceeded',
  tooManyStreams: 'rate_limit_exceeded',
  tooManySessions: 'rate_limit_exceeded',
  busy: 'conversation_locked',
}

/** A problem in the words of OpenAI's API. */
export function problemAsError({ status, code, detail, retryAfterMs }: Problem): Response {
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  const spelled = codes[code] ?? code.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const wait = retryAfterMs === undefined ? undefined : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }
  return errorResponse(status, { message: detail, type, param: null, code: spelled }, wait)
}

/** What the routes of a session have answered: a problem is told in their words. */
export async function inTheirWords(response: Response): Promise<Response> {
  if (response.headers.get('content-type') !== 'application/problem+json') return response
  return problemAsError(await response.json())
}

function errorResponse(status: number, error: OpenAiError, headers: Record<string, string> = {}): Response {
  return Response.json({ error }, { status, headers: { 'cache-control': 'no-store', ...headers } })
}
