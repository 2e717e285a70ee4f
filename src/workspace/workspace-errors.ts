import { WorkspaceError } from '../contract/errors.ts'

export function notFound(path: string): WorkspaceError {
  return new WorkspaceError('notFound', `There is no ${JSON.stringify(path)} in the workspace.`)
}

/** `reason` says what `path` is: `is a directory`. */
export function wrongKind(path: string, reason: string): WorkspaceError {
  return new WorkspaceError('wrongKind', `${JSON.stringify(path)} ${reason}.`)
}

/** What is there is not what the writer has read; `state` says what it is. */
export function changed(path: string, state: string): WorkspaceError {
  return new WorkspaceError('conflict', `${JSON.stringify(path)} ${state}; nothing was written. Read it again, then retry.`)
}

export function rootStays(): WorkspaceError {
  return new WorkspaceError('outside', 'The workspace root itself cannot be removed. Remove what is in it.')
}
