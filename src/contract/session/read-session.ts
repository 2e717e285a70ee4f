import { SessionError } from '../errors.ts'
import { jsonFault, maxDocumentDepth } from '../shape/json-fault.ts'
import { invalidMessages, parseStored, readStored } from '../shape/read.ts'
import { type Session, session } from './session.ts'

/**
 * Reads what `JSON.stringify(session)` wrote, for `store.save`. Throws `SessionError` `invalidSession` that names the path and what was wrong there,
 * such as `session.loops[2].status: expected completed|…, got "done"`, and quotes nothing else of the text. Unknown keys are kept.
 *
 * Source: docs/concepts/sessions.md
 */
export function parseSession(text: string): Session {
  return named(() => checkSession(parseStored(text, 'session')))
}

/**
 * As `parseSession`, for a value that has been read already, or was made: what JSON cannot hold is refused too. Events are not looked into: only that they are objects. Gives
 * the same object. For `save` of a store of your own.
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

/** A log knows loops by their ids. */
function assertOwnIds({ loops }: Session): void {
  const known = new Set<string>()
  for (const [at, { loopId }] of loops.entries()) {
    if (known.has(loopId)) throw invalidMessages(`session.loops[${at}].loopId`, 'an id that no loop before has', loopId, true)
    known.add(loopId)
  }
}

/** What is wrong with a session has a code of its own. */
function named<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    throw SessionError.isInstance(error) ? new SessionError('invalidSession', error.message) : error
  }
}
