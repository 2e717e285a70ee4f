import { dirname, join } from 'node:path'
import { systemCode } from '../workspace/fs-errors.ts'
import type { FileOperations } from './file-operations.ts'
import { endOf } from './list/session-summary.ts'
import { noteRemoved } from './log/claim.ts'
import { createdFirst, type EpochFile, isAbsent, listEpochs, newestEpoch, withEpochs } from './log/epoch-files.ts'
import { removeFiles } from './log/snapshot.ts'

/**
 * Deletes a session's folder with its content. Resolves with whether there was a record.
 *
 * **Contract**
 * - Takes effect at once and permanently, when `deleted.<newest epoch>` appears. A writer of an older log sees that file, or that its own
 *   is gone: the epoch is noted before the folder is removed, so that no later session has a log of that name.
 * - Epochs that start meanwhile are deleted too. The folder stays if another writer has opened the session and not yet written.
 */
export async function deleteFiles(operations: FileOperations, folder: string): Promise<boolean> {
  const hadRecords = (await hasRecords(operations, folder)) ?? false
  for (let isLeft = true; isLeft; ) {
    const files = await listEpochs(operations, folder)
    try {
      isLeft = files !== undefined && (await deleteMore(operations, folder, files, hadRecords))
    } catch (error) {
      // Another process deletes it too.
      if (!isAbsent(error)) throw error
    }
  }
  return hadRecords
}

/** Runs the next step of a deletion; resolves with whether there may be another. */
async function deleteMore(operations: FileOperations, folder: string, files: readonly EpochFile[], hadRecords: boolean): Promise<boolean> {
  const deleted = newestEpoch(files, 'deleted')
  const newest = newestEpoch(files)
  if (newest > deleted && hadRecords) {
    const mark = join(folder, `deleted.${newest}`)
    if (await createdFirst(operations, mark)) await operations.close?.(mark)
    await operations.syncDirectory(folder)
    return true
  }
  const old = files.filter(({ kind, epoch }) => epoch < deleted || (epoch === deleted && kind !== 'deleted'))
  if (old.length > 0) {
    await removeFiles(operations, folder, old)
    await operations.syncDirectory(folder)
    return true
  }
  // A writer that has begun since goes by the mark: it may have read what was deleted.
  if (deleted > 0 && newest === deleted) await removeFolder(operations, folder, files)
  return false
}

async function removeFolder(operations: FileOperations, folder: string, marks: readonly EpochFile[]): Promise<void> {
  await noteRemoved(operations, dirname(folder), newestEpoch(marks))
  await removeFiles(operations, folder, marks)
  try {
    await operations.removeDirectory(folder)
  } catch (error) {
    const code = systemCode(error)
    // A new session started in it, or it contains foreign files.
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOENT') return
    throw error
  }
  await operations.syncDirectory(dirname(folder))
}

function hasRecords(operations: FileOperations, folder: string): Promise<boolean | undefined> {
  return withEpochs(operations, folder, async (files) => (await endOf(operations, folder, files)) !== undefined)
}
