import { SessionError } from '../types/errors.ts'

const sessionId = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/

/**
 * Throws `SessionError` `invalidId` unless `id` is one a store may use: `[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}`. Such an id is also a safe
 * file name and storage key. For every `SessionStore`.
 */
export function assertSessionId(id: string): void {
  if (typeof id === 'string' && sessionId.test(id)) return
  const shown = JSON.stringify(String(id).slice(0, 40))
  throw new SessionError(
    'invalidId',
    `Session id ${shown} is not allowed. Use 1 to 200 characters of A-Z a-z 0-9 . _ -, the first one not a dot.`,
  )
}
