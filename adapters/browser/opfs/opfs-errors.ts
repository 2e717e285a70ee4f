import { PhiError } from '../../../src/index.ts'
import { WorkspaceError } from '../../../src/tools/index.ts'

/** Whether the browser says that nothing is there. */
export function isNotFound(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'NotFoundError'
}

/** The error in the words of the port. */
export function translated(path: string, error: unknown): Error {
  if (PhiError.isInstance(error)) return error
  if (isNotFound(error)) return notFound(path)
  const shown = JSON.stringify(path)
  if (error instanceof DOMException && error.name === 'QuotaExceededError') {
    const message = `${shown} does not fit: the browser gives this origin no more space. Remove files or sessions, or ask for more with navigator.storage.persist().`
    return new WorkspaceError('io', message, { cause: error })
  }
  if (error instanceof TypeError)
    return new WorkspaceError('outside', `The browser takes no file of the name ${shown}. Use another one.`, { cause: error })
  return new WorkspaceError('io', `${shown} could not be used: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
}

export function notFound(path: string): WorkspaceError {
  return new WorkspaceError('notFound', `There is no ${JSON.stringify(path)} in the workspace.`)
}

export function wrongKind(path: string, reason: string): WorkspaceError {
  return new WorkspaceError('wrongKind', `${JSON.stringify(path)} ${reason}.`)
}

export function conflict(path: string, isExpected: boolean): WorkspaceError {
  const state = isExpected ? 'has another version than expected, or is gone' : 'exists'
  return new WorkspaceError('conflict', `${JSON.stringify(path)} ${state}; nothing was written. Read it again, then retry.`)
}
