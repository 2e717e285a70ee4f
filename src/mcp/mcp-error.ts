import { isNamed, PhiError } from '../contract/errors.ts'

/** Why a server cannot be used. */
export type McpErrorCode = 'connection' | 'unauthorized' | 'protocol'

/** A server that cannot be reached (`connection`), does not let us in (`unauthorized`), or does not keep to the protocol (`protocol`). A failed call is a result for the model instead. */
export class McpError extends PhiError<McpErrorCode> {
  override readonly name = 'McpError'

  static override isInstance(value: unknown): value is McpError {
    return isNamed(value, 'McpError')
  }
}

/** What an error of a client means: of ours its code; of an SDK whether the server did not let us in. */
export function mcpErrorCode(error: unknown): McpErrorCode {
  if (McpError.isInstance(error)) return error.code
  if (!(error instanceof Error)) return 'connection'
  // 1.x has the status as `code`, 2.x as `status`, and a class of its own gives no name.
  const isRefused =
    error.name === 'UnauthorizedError' ||
    error.constructor.name === 'UnauthorizedError' ||
    ('code' in error && isRefusal(error.code)) ||
    ('status' in error && isRefusal(error.status))
  return isRefused ? 'unauthorized' : 'connection'
}

function isRefusal(status: unknown): boolean {
  return status === 401 || status === 403
}
