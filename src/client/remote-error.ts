import { isNamed, PhiError, type PhiErrorOptions } from '../contract/errors.ts'

/**
 * Codes of a `RemoteError`:
 * - `connectionLost`: all attempts failed; `cause` is the last failure. The run may still be active: `load()` reconnects.
 * - `unexpectedAnswer`: something else responded, such as a proxy, a login page or a wrong URL. The message contains the
 *   response.
 * - `stalled`: no data for a while, not even a ping.
 * - `closed`: the session was closed on this side.
 * - any other: the code of the server's problem, such as `unauthorized`, `busy`, `notFound`, `argumentsChanged`.
 */
export type RemoteErrorCode = 'connectionLost' | 'unexpectedAnswer' | 'stalled' | 'closed' | (string & {})

/** Additional data of a failure. */
export interface RemoteErrorOptions extends PhiErrorOptions {
  /** HTTP status. */
  status?: number
  /** Whether the same request may succeed later. */
  isRetryable?: boolean
  /** Milliseconds that the server asked to wait. */
  retryAfterMs?: number
  /** The loop whose events the server has released. */
  loopId?: string
  /** The loop that continues it. */
  continuedBy?: string
}

/** An error of a remote session or of the connection to it. Contains no header and no body. */
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

/** Returns the code of our error; `other` for any other. */
export function codeOf(error: unknown): RemoteErrorCode {
  return PhiError.isInstance(error) ? error.code : 'other'
}
