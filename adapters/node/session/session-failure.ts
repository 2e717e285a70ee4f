import { SessionError } from '../../../src/session/index.ts'
import { systemCode } from '../workspace/fs-errors.ts'

/** A failed file operation as a `SessionError`, without the path that the system's own message holds. A `SessionError` passes. */
export function sessionFailure(error: unknown, what: string): SessionError {
  if (SessionError.isInstance(error)) return error
  const code = systemCode(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    // In the message: of an error that a run ends with, no more than that is told.
    return new SessionError('quota', `Cannot ${what}: no room on the disk. Delete old sessions or free some space, then try again.`)
  }
  const hint =
    code === 'EMFILE' || code === 'ENFILE'
      ? 'Close writers that are no longer used.'
      : 'Check that the directory of the sessions is on a working disk and that this process may read and write it.'
  return new SessionError('io', `Cannot ${what}: ${code ?? 'the file system failed'}.`, { hint })
}

/** Runs `operation`; what fails becomes a `SessionError` that says `what`. */
export async function reported<T>(what: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (error) {
    throw sessionFailure(error, what)
  }
}

/** What a writer is told that does not count any more. */
export function takenOver(sessionId: string, epoch: number): SessionError {
  return new SessionError(
    'conflict',
    `A writer after epoch ${epoch} has taken over session ${sessionId}, or it was deleted. The last write may not count. Use resumeAgent to go on with it.`,
  )
}
