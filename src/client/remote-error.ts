import { isNamed, PhiError, type PhiErrorOptions } from '../contract/errors.ts'

/**
 * Codes of `RemoteError`:
 * - `connectionLost`: all attempts failed. `cause` is the last error. The run may still be active. Call `load()` to reconnect.
 * - `unexpectedAnswer`: a proxy, a login page or another server responded. The message describes the response.
 * - `stalled`: the connection timed out without data or a ping.
 * - `closed`: this client closed the session.
 * - Any other code comes from the server's problem response, such as `unauthorized`, `busy`, `notFound` or `argumentsChanged`.
 */
export type RemoteErrorCode = 'connectionLost' | 'unexpectedAnswer' | 'stalled' | 'closed' | (string & {})

/** Additional error fields. */
export interface RemoteErrorOptions extends PhiErrorOptions {
  /** HTTP status. */
  status?: number
  /** Whether a retry of the same request may succeed. */
  isRetryable?: boolean
  /** Milliseconds to wait before a retry, requested by the server. */
  retryAfterMs?: number
  /** Id of the loop whose events the server has released. */
  loopId?: string
  /** Id of the loop that continues the released one. */
  continuedBy?: string
}

/** Error of a remote session or its connection. Contains no headers and no bodies. */
export class RemoteError extends PhiError<RemoteErrorCode> {
  override readonly name = 'RemoteError'
  declare readonly status?: number
  declare readonly retryAfterMs?: number
  declare readonly loopId?: string
  declare readonly continuedBy?: string
  readonly isRetryable: boolean

  constructor(code: RemoteErrorCode, message: string, options: RemoteErrorOptions = {}) {
    const { isRetryable = false, cause, hint, ...known } = options
    super(code, message, { ...(cause !== undefined && { cause }), ...(hint !== undefined && { hint }) })
    this.isRetryable = isRetryable
    Object.assign(this, known)
  }

  static override isInstance(value: unknown): value is RemoteError {
    return isNamed(value, 'RemoteError')
  }
}

/** Returns the error's code if it is a `RemoteError`, otherwise `other`. */
export function codeOf(error: unknown): RemoteErrorCode {
  return PhiError.isInstance(error) ? error.code : 'other'
}
