import type { AgentEndEvent } from '../../../contract/run/event.ts'

/** An error of OpenAI's API. */
export interface OpenAiError {
  message: string
  type: string
  param: string | null
  code: string | null
}

/** A run's failure, with the HTTP status to use if nothing was sent yet. */
export interface RunFailed {
  status: 400 | 409 | 429 | 500 | 502
  error: OpenAiError
}

/** Returns the failure of a run, or `undefined` if it has a response, even a partial one. */
export function failureOf({ status, error, rejection }: Pick<AgentEndEvent, 'status' | 'error' | 'rejection'>): RunFailed | undefined {
  if (status === 'rejected') return failed(400, 'invalid_request_error', 'content_filter', rejection ?? 'The request was refused.')
  if (status === 'aborted') return failed(409, 'server_error', 'aborted', 'The run was stopped before it had a response. Retry.')
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

/** Error for an interrupted event stream. */
export const brokenOff: OpenAiError = {
  message: 'The event stream of the run failed.',
  type: 'server_error',
  param: null,
  code: 'server_error',
}
