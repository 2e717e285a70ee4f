import { isNamed, PhiError } from '../contract/errors.ts'

/** Reason why a server is unusable. */
export type McpErrorCode = 'connection' | 'unauthorized' | 'protocol'

/**
 * Error for a server that cannot be reached (`connection`), denies access (`unauthorized`) or violates the protocol (`protocol`). A failed
 * tool call does not throw it. The model receives an error result.
 */
export class McpError extends PhiError<McpErrorCode> {
  override readonly name = 'McpError'

  static override isInstance(value: unknown): value is McpError {
    return isNamed(value, 'McpError')
  }
}

/** Returns the code for a client error: our own code, `unauthorized` if the SDK reports refused access, or else `connection`. */
export function mcpErrorCode(error: unknown): McpErrorCode {
  if (McpError.isInstance(error)) return error.code
  if (!(error instanceof Error)) return 'connection'
  // SDK 1.x reports the HTTP status as `code`, 2.x as `status`. The error class has no distinctive name.
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
