import type { AgentEndEvent } from '../../../contract/run/event.ts'

/** An error of OpenAI's API. */
export interface OpenAiError {
  message: string
  type: string
  param: string | null
  code: string | null
}

/** Failure of a run for the caller, with the status if nothing was sent yet. */
export interface RunFailed {
  status: 400 | 409 | 429 | 500 | 502
  error: OpenAiError
}

/** Returns the failure of a run; `undefined` if it has a response, even a partial one. */
export function failureOf({ status, error, rejection }: Pick<AgentEndEvent, 'status' | 'error' | 'rejection'>): RunFailed | undefined {
  if (status === 'rejected') return failed(400, 'invalid_request_error', 'content_filter', rejection ?? 'The request was refused.')
  if (status === 'aborted') return failed(409, 'server_error', 'aborted', 'The run was stopped before it had an answer. Ask again.')
  if (status !== 'error') return undefined
  const message = error?.message ?? 'The run failed.'
  switch (error?.code) {
    case 'contextOverflow':
      return failed(400, 'invalid_request_error', 'context_length_exceeded', message)
    case 'unsupportedMedia':
    case 'unsupported':
      return failed(400, 'invalid_request_error', 'unsupported_value', message)
    case 'rateLimited':
      return failed(429, 'rate_limit_error', 'rate_limit_exceeded', message)
    case 'network':
    case 'api':
      return failed(502, 'server_error', 'model_failed', message)
    default:
      return failed(500, 'server_error', error?.code ?? 'server_error', message)
  }
}

function failed(status: RunFailed['status'], type: string, code: string, message: string): RunFailed {
  return { status, error: { message, type, param: null, code } }
}

/** The error for a run whose events cannot be read on. */
export const brokenOff: OpenAiError = {
  message: 'The events of the run could not be read on.',
  type: 'server_error',
  param: null,
  code: 'server_error',
}
