import { SessionError } from '../../../../src/session.ts'

/** For the failure of a read: nothing, where there is no such session. */
export function undefinedWhereUnknown(error: unknown): undefined {
  if (SessionError.isInstance(error) && error.code === 'notFound') return undefined
  throw error
}
