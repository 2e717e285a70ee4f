import { errorText, ToolError, WorkspaceError } from '../../contract/errors.ts'

/**
 * The error a file tool fails with when the workspace refused: `{what}: {reason}`, code `notFound` for a missing file. Errors that are not
 * the workspace's own, aborts among them, are returned as they are.
 */
export function accessError(what: string, error: unknown): unknown {
  if (!(error instanceof WorkspaceError)) return error
  return new ToolError(error.code === 'notFound' ? 'notFound' : 'failed', `${what}: ${errorText(error)}`, { cause: error })
}
