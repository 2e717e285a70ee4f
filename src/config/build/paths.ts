import { WorkspaceError } from '../../contract/errors.ts'
import { resolvePath } from '../../workspace/path.ts'
import { hasVariable } from '../read/env.ts'

/** What stands before the path of a file in a prompt. */
const filePrefix = 'file:'

/** Whether a path of the file may lead out of what it is relative to. One that the environment completes may. */
export function isOutside(path: string): boolean {
  if (path.startsWith('~') || hasVariable(path)) return true
  try {
    resolvePath(path)
    return false
  } catch (error) {
    if (WorkspaceError.isInstance(error)) return true
    throw error
  }
}

/** The path that a prompt names, if it is one. */
export function filePathOf(prompt: string): string | undefined {
  return prompt.startsWith(filePrefix) ? prompt.slice(filePrefix.length).trim() : undefined
}
