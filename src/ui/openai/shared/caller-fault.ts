/** Why a request of a caller is refused, in the words of OpenAI's API. */
export interface CallerFault {
  /** The fault, and what to do. */
  message: string
  /** The field that it is about. */
  param?: string
  /** Stable and machine-readable, such as `unsupported_parameter`. */
  code?: string
}

/** A parsed request, or why it is refused. */
export type ReadRequest<T> = { value: T; fault?: never } | { value?: never; fault: CallerFault }

/** On its way up to the reader that was asked. */
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

/** Refuses a field that nothing here can do. */
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
