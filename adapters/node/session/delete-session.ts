import { dirname, join } from 'node:path'
import { systemCode } from '../workspace/fs-errors.ts'
import type { FileOperations } from './file-operations.ts'
import { endOf } from './list/session-summary.ts'
import { noteRemoved } from './log/claim.ts'
import { createdFirst, type EpochFile, isAbsent, listEpochs, newestEpoch, withEpochs } from './log/epoch-files.ts'
import { removeFiles } from './log/snapshot.ts'

/**
 * Deletes a session's folder with its content. Resolves with whether the session had a record.
 *
 * **Contract**
 * - Takes effect immediately and permanently when `deleted.<newest epoch>` is created. A writer of an older log detects this file, or that
 *   its own file is missing. The epoch is recorded before the folder is removed, so that no later session reuses the log's name.
 * - Also deletes epochs that start in the meantime. The folder remains if another writer has opened the session without writing yet.
 */
export async function deleteFiles(operations: FileOperations, folder: string): Promise<boolean> {
  const hadRecords = (await hasRecords(operations, folder)) ?? false
  for (let isLeft = true; isLeft; ) {
    const files = await listEpochs(operations, folder)
    try {
      isLeft = files !== undefined && (await deleteMore(operations, folder, files, hadRecords))
    } catch (error) {
      // Another process is also deleting the session.
      if (!isAbsent(error)) throw error
    }
  }
  return hadRecords
}

/** Runs the next step of a deletion. Resolves with whether another step may be needed. */
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
  // Also deletes a writer's epoch that started since then, because it may have read deleted data.
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
    // A new session started in the folder, or it contains unrelated files.
    if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOENT') return
    throw error
  }
  await operations.syncDirectory(dirname(folder))
}

function hasRecords(operations: FileOperations, folder: string): Promise<boolean | undefined> {
  return withEpochs(operations, folder, async (files) => (await endOf(operations, folder, files)) !== undefined)
}
