import { SessionError } from '../../../../src/session.ts'

/** Handles a failed read. Returns `undefined` if the session does not exist. */
export function undefinedWhereUnknown(error: unknown): undefined {
  if (SessionError.isInstance(error) && error.code === 'notFound') return undefined
  throw error
}
