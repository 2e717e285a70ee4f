import { join } from 'node:path'
import { makeDurableDirectory } from './durable-directory.ts'
import { createdFirst, isAbsent } from './epoch-files.ts'
import type { FileOperations } from './file-operations.ts'

/** Beside the sessions: no id begins with a dot. */
const folderName = '.deleted'

const epochName = /^[1-9]\d{0,14}$/

/**
 * The newest epoch of all sessions below `root` whose folders were removed; 0 without one. A session begins after it: whoever still holds a log of
 * the deleted one must not find its name again.
 */
export async function removedUpTo(operations: FileOperations, root: string): Promise<number> {
  return Math.max(0, ...(await removedEpochs(operations, root)))
}

/** No session that begins from now on has an epoch up to this one. Durable when it resolves. */
export async function noteRemoved(operations: FileOperations, root: string, epoch: number): Promise<void> {
  const folder = join(root, folderName)
  const before = await removedEpochs(operations, root)
  if (before.some((each) => each >= epoch)) return
  await makeDurableDirectory(operations, folder)
  const path = join(folder, String(epoch))
  if (await createdFirst(operations, path)) await operations.close?.(path)
  await operations.syncDirectory(folder)
  // One stays beside the newest: who lists while a name is added need not see it, and must not see none.
  for (const old of before.toSorted((a, b) => b - a).slice(1)) await operations.remove(join(folder, String(old))).catch(() => {})
}

async function removedEpochs(operations: FileOperations, root: string): Promise<number[]> {
  try {
    return (await operations.list(join(root, folderName))).filter((name) => epochName.test(name)).map(Number)
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}
