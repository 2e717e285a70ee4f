/** Why a request is rejected, in the format of OpenAI's API. */
export interface CallerFault {
  /** The problem and how to fix it. */
  message: string
  /** The invalid field. */
  param?: string
  /** Stable and machine-readable, such as `unsupported_parameter`. */
  code?: string
}

/** A parsed request, or the reason for its rejection. */
export type ReadRequest<T> = { value: T; fault?: never } | { value?: never; fault: CallerFault }

/** Carries a fault to `readingOf`. */
class FaultError extends Error {
  readonly fault: CallerFault

  constructor(fault: CallerFault) {
    super(fault.message)
    this.name = 'FaultError'
    this.fault = fault
  }
}

/** Rejects the value of `param`. */
export function refuse(param: string, message: string, code?: string): never {
  throw new FaultError({ message, param, ...(code !== undefined && { code }) })
}

/** Rejects an unsupported field. */
export function refuseUnsupported(param: string, why: string): never {
  refuse(param, `Unsupported parameter: '${param}'. ${why}`, 'unsupported_parameter')
}

/** Returns the result of `read`, or its rejection. */
export function readingOf<T>(read: () => T): ReadRequest<T> {
  try {
    return { value: read() }
  } catch (error) {
    if (error instanceof FaultError) return { fault: error.fault }
    throw error
  }
}
