import { join } from 'node:path'
import { systemCode } from '../workspace/fs-errors.ts'
import type { HeldLog } from './claim.ts'
import { appendLines, countingFiles, type EpochFile, linesOf, listEpochs, type ReadFile, readFiles } from './epoch-files.ts'
import type { FileOperations } from './file-operations.ts'

/** What a file costs at least: a block of the disk, and a call to read it. */
const blockSize = 4096
/** Below this it is cheaper to read the logs. */
const smallest = 64 * 1024
/** A log from this length on stays as it is until those after it have outgrown it: a long one is not written a second time for a short one. */
const longLog = 16 * 1024 * 1024

/** Whether the logs have outgrown the snapshot before them, so that all snapshots together cost no more than the log. */
export function isSnapshotDue(files: readonly ReadFile[]): boolean {
  let [logs, snapshot] = [0, smallest]
  for (const [index, { kind, chars }] of files.entries()) {
    const isBase = kind !== 'log' || (index === 0 && chars >= longLog)
    if (isBase) snapshot = Math.max(chars, smallest)
    else logs += Math.max(chars, blockSize)
  }
  return logs > snapshot
}

/**
 * Puts one file in place of those of the epochs before `log`, and removes them.
 *
 * **Contract**
 * - Only after a first record of `log` was acknowledged: then no newer writer can go on from a line that an older one adds while this reads.
 *   Not at the claim, where a newer writer might, and would lose it.
 * - A crash at any point leaves the old files, the new one, or both; a newer writer that does the same at the same time does no harm.
 * - Rejects with the system's error; nothing is lost then.
 */
export async function takeSnapshot(operations: FileOperations, { folder, epoch }: HeldLog): Promise<void> {
  const files = (await listEpochs(operations, folder)) ?? []
  const older = countingFiles(files).filter((file) => file.epoch < epoch)
  const lines = linesOf(await readFiles(operations, folder, older))
  const target = join(folder, `snapshot.${epoch}`)
  const unfinished = `${target}.tmp`
  try {
    await operations.createExclusive(unfinished)
    await appendLines(operations, unfinished, lines)
    await operations.sync(unfinished)
    await operations.rename(unfinished, target)
  } catch (error) {
    await operations.remove(unfinished).catch(() => {})
    throw error
  }
  await operations.syncDirectory(folder)
  await removeFiles(
    operations,
    folder,
    files.filter((file) => file.epoch < epoch),
  )
}

/** Removes files of a session; those that are gone already are fine. */
export async function removeFiles(operations: FileOperations, folder: string, files: readonly EpochFile[]): Promise<void> {
  for (const { name } of files) {
    try {
      await operations.remove(join(folder, name))
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error
    }
  }
}
