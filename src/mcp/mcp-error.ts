import { PhiError, type PhiErrorOptions } from '../contract/errors.ts'

/** Why a server cannot be used. */
export type McpErrorCode = 'connection' | 'unauthorized' | 'protocol'

/** A server that cannot be reached (`connection`), does not let us in (`unauthorized`), or does not keep to the protocol (`protocol`). A failed call is a result for the model instead. */
export class McpError extends PhiError {
  declare readonly code: McpErrorCode

  constructor(code: McpErrorCode, message: string, options: PhiErrorOptions = {}) {
    super(code, message, options)
    this.name = 'McpError'
  }

  static override isInstance(value: unknown): value is McpError {
    return PhiError.isInstance(value) && value.name === 'McpError'
  }
}
