import { join } from 'node:path'
import { createdFirst } from './claim.ts'
import { listEpochs, newestEpoch, withEpochs } from './epoch-files.ts'
import type { FileOperations } from './file-operations.ts'
import { endOf } from './session-summary.ts'
import { removeFiles } from './snapshot.ts'

/**
 * Deletes what is in a session's folder; resolves with whether there was a record.
 *
 * **Contract**
 * - It happens at once, when `deleted.<newest epoch>` appears, and lasts from then on. Whoever holds an older log sees that file, so it
 *   stays, empty; without it a session of the same id would begin with the same epoch, and an old writer take its log for its own.
 * - Epochs that begin meanwhile are deleted too.
 */
export async function deleteFiles(operations: FileOperations, folder: string): Promise<boolean> {
  const hadRecords = (await hasRecords(operations, folder)) ?? false
  for (;;) {
    const files = (await listEpochs(operations, folder)) ?? []
    const deleted = newestEpoch(files, 'deleted')
    const newest = newestEpoch(files)
    if (newest > deleted && hadRecords) {
      const mark = join(folder, `deleted.${newest}`)
      if (await createdFirst(operations, mark)) await operations.close?.(mark)
      await operations.syncDirectory(folder)
      continue
    }
    if (deleted > 0) {
      const old = files.filter(({ kind, epoch }) => epoch < deleted || (epoch === deleted && kind !== 'deleted'))
      await removeFiles(operations, folder, old)
      await operations.syncDirectory(folder)
    }
    return hadRecords
  }
}

function hasRecords(operations: FileOperations, folder: string): Promise<boolean | undefined> {
  return withEpochs(operations, folder, async (files) => (await endOf(operations, folder, files)) !== undefined)
}
