import { errorText, ToolError, WorkspaceError } from '../contract/errors.ts'

/** Device names of Windows, in any case and with any extension. */
const deviceName = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\.|$)/i

/**
 * Normalizes a path: relative to the root, forward slashes, without `.`, `..`, empty or trailing segments. The root is `.`.
 *
 * **Contract**
 * - Works on text only. The workspace resolves links.
 * - Throws `WorkspaceError` `outside`, which names the path, for an absolute path and for one that leads above the root.
 * - Also throws it for a path that other platforms read differently. Examples are NUL, backslash, colon (drive letters, alternate streams),
 *   device names, and segments that end in a dot or a space.
 *
 * Source: docs/guides/files-and-bash.md
 */
export function resolvePath(path: string): string {
  if (path.startsWith('/')) throw outside(path, 'is absolute')
  const segments: string[] = []
  for (const segment of path.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') {
      checkSegment(path, segment)
      segments.push(segment)
    } else if (segments.pop() === undefined) {
      throw outside(path, 'leaves the workspace')
    }
  }
  return segments.length === 0 ? '.' : segments.join('/')
}

/** Joins `directory`, which is normalized, and `name`. */
export function joinPath(directory: string, name: string): string {
  return directory === '.' ? name : `${directory}/${name}`
}

function checkSegment(path: string, segment: string): void {
  if (segment.includes('\0')) throw outside(path, 'contains a NUL character')
  if (segment.includes('\\')) throw outside(path, 'contains a backslash; separate segments with "/"')
  if (segment.includes(':')) throw outside(path, 'contains a colon')
  if (deviceName.test(segment)) throw outside(path, `names the device "${segment}"`)
  if (segment.endsWith('.') || segment.endsWith(' ')) throw outside(path, 'has a segment ending in a dot or a space')
}

function outside(path: string, reason: string): WorkspaceError {
  return new WorkspaceError('outside', `The path ${JSON.stringify(path)} ${reason}. Use a path relative to the workspace root.`)
}

/** Returns the last segment of a path. */
export function nameOfPath(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

export function notFound(path: string): WorkspaceError {
  return new WorkspaceError('notFound', `${JSON.stringify(path)} does not exist in the workspace.`)
}

/** Error for a path of the wrong kind. `reason` is for example `is a directory`. */
export function wrongKind(path: string, reason: string): WorkspaceError {
  return new WorkspaceError('wrongKind', `${JSON.stringify(path)} ${reason}.`)
}

/** Error for a file that changed since the writer read it. `state` describes it. */
export function changed(path: string, state: string): WorkspaceError {
  return new WorkspaceError('conflict', `${JSON.stringify(path)} ${state}, so nothing was written. Read it again, then retry.`)
}

export function rootStays(): WorkspaceError {
  return new WorkspaceError('outside', 'Cannot remove the workspace root. Remove its contents instead.')
}

/**
 * Returns the error of a file tool after the workspace refused: `{what}: {reason}`, code `notFound` for a missing file. Returns other
 * errors, such as aborts, unchanged.
 */
export function accessError(what: string, error: unknown): unknown {
  if (!(error instanceof WorkspaceError)) return error
  return new ToolError(error.code === 'notFound' ? 'notFound' : 'failed', `${what}: ${errorText(error)}`, { cause: error })
}
