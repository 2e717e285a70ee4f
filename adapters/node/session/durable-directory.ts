import { dirname } from 'node:path'
import { systemCode } from '../workspace/fs-errors.ts'
import type { FileOperations } from './file-operations.ts'

/**
 * Makes a directory, and those above it that are missing. Its name in the directory above is durable when this resolves, also when another
 * process has just made it.
 */
export async function makeDurableDirectory(operations: FileOperations, path: string): Promise<void> {
  const parent = dirname(path)
  try {
    await operations.makeDirectory(path)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' && parent !== path) {
      await makeDurableDirectory(operations, parent)
      return makeDurableDirectory(operations, path)
    }
    if (code !== 'EEXIST') throw error
  }
  await operations.syncDirectory(parent)
}

/**
 * Makes the names that lead to `path` durable, up to the root: whoever made the directories may have been killed before it could. Directories
 * that this process may not open are left out; somebody else made them, long ago.
 */
export async function syncPathTo(operations: FileOperations, path: string): Promise<void> {
  const parent = dirname(path)
  if (parent === path) return
  try {
    await operations.syncDirectory(parent)
  } catch (error) {
    if (!isForbidden(error)) throw error
  }
  await syncPathTo(operations, parent)
}

/** By the system, or by Deno, which has no code for a directory outside of what it was allowed. */
function isForbidden(error: unknown): boolean {
  const code = systemCode(error)
  return code === 'EACCES' || code === 'EPERM' || (error instanceof Error && error.name === 'NotCapable')
}
