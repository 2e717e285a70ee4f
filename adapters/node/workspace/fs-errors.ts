import { constants } from 'node:os'
import { WorkspaceError } from '../../../src/tools.ts'

/**
 * Returns the system's error code of a failed call (`ENOENT`, …), or `undefined`. Works on Node, Deno and Bun, even for codes that they do
 * not know.
 */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const number = code === undefined ? numberInDeno.exec(error.message) : numberInNode.exec(code)
  return number === null ? code : (nameOfNumber(Number(number[1])) ?? code)
}

/** Node and Deno do not know all system codes. EDQUOT is missing. */
const numberInNode = /^Unknown system error -(\d+)$/
const numberInDeno = /\(os error (\d+)\)$/

function nameOfNumber(number: number): string | undefined {
  // Windows uses different numbers, and Deno uses these names.
  if (process.platform === 'win32') return undefined
  return Object.entries(constants.errno).find(([, value]) => value === number)?.[0]
}

/** Runs `operation` on `path`. A failed system call becomes a `WorkspaceError`. Other errors and the signal's reason are rethrown. */
export async function translated<T>(path: string, verb: string, signal: AbortSignal | undefined, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (error) {
    const passes = error instanceof WorkspaceError || systemCode(error) === undefined || (signal?.aborted && error === signal.reason)
    throw passes ? error : fromSystem(path, verb, error)
  }
}

function fromSystem(path: string, verb: string, error: unknown): WorkspaceError {
  switch (systemCode(error)) {
    case 'ENOENT':
      return notFound(path)
    case 'ENOTDIR':
      return new WorkspaceError('wrongKind', `Cannot ${verb} ${path}: part of the path is a file, not a directory.`)
    case 'EISDIR':
      return new WorkspaceError('wrongKind', `Cannot ${verb} ${path}: it is a directory.`)
    default:
      // Use only the code, because system error messages contain absolute host paths.
      return new WorkspaceError('io', `Cannot ${verb} ${path}: ${systemCode(error)}.`)
  }
}

function notFound(path: string): WorkspaceError {
  return new WorkspaceError('notFound', `${path} does not exist. List its directory to see what is there.`)
}

export function outside(path: string): WorkspaceError {
  return new WorkspaceError('outside', `${path} is outside the workspace. Use a path inside it.`)
}

export function notRegular(path: string): WorkspaceError {
  return new WorkspaceError('wrongKind', `${path} is not a regular file.`)
}

export function isDirectory(path: string): WorkspaceError {
  return new WorkspaceError('wrongKind', `${path} is a directory, not a file.`)
}

export function conflict(path: string, reason: string): WorkspaceError {
  return new WorkspaceError('conflict', `${path} ${reason}. Read it again, then repeat the change.`)
}

export function protectedPath(path: string, segment: string): WorkspaceError {
  return new WorkspaceError(
    'protected',
    `${path} is protected: other programs read settings or code from ${segment}. Ask the user to make this change.`,
  )
}
