import type { CallerFault, RunFailed } from '../../../src/internal.ts'
import type { OpenAiError } from '../../../src/ui/openai.ts'
import type { Problem } from '../access/problem.ts'

/** Carries a rejection in OpenAI's format to the error handler. */
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

/** Rejects a request that cannot be handled. */
export function refuseCaller(fault: CallerFault): never {
  throw new OpenAiRefusal(400, fault)
}

/** Rejects a request for an unknown response. */
export function refuseResponse(id: string): never {
  throw new OpenAiRefusal(404, { message: `Response with id ${JSON.stringify(id.slice(0, 100))} not found.`, param: 'id' })
}

/** Returns the response for a rejected request. */
export function refusalResponse({ status, fault }: OpenAiRefusal): Response {
  const { message, param = null, code = null } = fault
  return errorResponse(status, { message, type: 'invalid_request_error', param, code })
}

/** Returns the response for a failed run. `isPromptStored` means that the session contains the prompt, so a retry would send it twice. */
export function failureResponse({ status, error }: RunFailed, isPromptStored: boolean): Response {
  return errorResponse(status, error, isPromptStored ? { 'x-should-retry': 'false' } : {})
}

/** Codes that OpenAI clients check. Other codes are converted to snake case. */
const codes: Partial<Record<Problem['code'], string>> = {
  unauthorized: 'invalid_api_key',
  tooManyRuns: 'rate_limit_exceeded',
  tooManyStreams: 'rate_limit_exceeded',
  tooManySessions: 'rate_limit_exceeded',
  busy: 'conversation_locked',
}

/** Converts a problem to an error of OpenAI's API. */
export function problemAsError({ status, code, detail, retryAfterMs }: Problem): Response {
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error'
  const spelled = codes[code] ?? code.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const wait = retryAfterMs === undefined ? undefined : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }
  return errorResponse(status, { message: detail, type, param: null, code: spelled }, wait)
}

/** Converts a problem of session routes to an error of OpenAI's API. */
export async function inTheirWords(response: Response): Promise<Response> {
  if (response.headers.get('content-type') !== 'application/problem+json') return response
  return problemAsError(await response.json())
}

function errorResponse(status: number, error: OpenAiError, headers: Record<string, string> = {}): Response {
  return Response.json({ error }, { status, headers: { 'cache-control': 'no-store', ...headers } })
}
