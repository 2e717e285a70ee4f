import { SessionError } from '../errors.ts'
import { jsonFault, maxDocumentDepth } from '../shape/json-fault.ts'
import { invalidMessages, parseStored, readStored } from '../shape/read.ts'
import { type Session, session } from './session.ts'

/**
 * Parses the output of `JSON.stringify(session)`, for `store.save`. Keeps unknown keys. Throws `SessionError` `invalidSession` with the
 * path and the expected type, such as `session.loops[2].status: expected completed|…, got "done"`. The message quotes no other part of the
 * text.
 *
 * Source: docs/concepts/sessions.md
 */
export function parseSession(text: string): Session {
  return named(() => checkSession(parseStored(text, 'session')))
}

/**
 * Validates a session object, for `save` of a custom store. Also rejects values that JSON cannot represent. For events, only checks that
 * each is an object. Returns the same object.
 */
export function checkSession(value: unknown): Session {
  return named(() => {
    const read = readStored(session, value, 'session')
    assertOwnIds(read)
    const stored = { ...read, loops: read.loops.map(({ events: _, ...rest }) => rest) }
    const fault = jsonFault(stored, 'session', maxDocumentDepth)
    if (fault !== undefined) throw new SessionError('invalidSession', fault)
    return read
  })
}

/** Logs identify loops by their ids. */
function assertOwnIds({ loops }: Session): void {
  const known = new Set<string>()
  for (const [at, { loopId }] of loops.entries()) {
    if (known.has(loopId)) throw invalidMessages(`session.loops[${at}].loopId`, 'a unique id', loopId, true)
    known.add(loopId)
  }
}

/** Rethrows validation errors with the code `invalidSession`. */
function named<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    throw SessionError.isInstance(error) ? new SessionError('invalidSession', error.message) : error
  }
}
