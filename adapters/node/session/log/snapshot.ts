import { join } from 'node:path'
import { systemCode } from '../../workspace/fs-errors.ts'
import type { FileOperations } from '../file-operations.ts'
import type { HeldLog } from './claim.ts'
import { appendLines, countingFiles, type EpochFile, linesIn, listEpochs, type SizedFile, sizesOf } from './epoch-files.ts'
import type { LogLimits } from './segments.ts'

/** What a file costs at least: a block of the disk, and a call to read it. */
const blockSize = 4096
/** Below this it is cheaper to read the logs. */
const smallest = 64 * 1024
/** Of a full file, as much makes one long: it stays as it is, and is not written a second time for short ones. */
const longPart = 1 / 4

/**
 * The first epoch from which on the files that were found are worth one snapshot: when the logs have outgrown the snapshot before them, so that all
 * snapshots together cost no more than the log. `undefined` when they are not. Only short files at the end: a snapshot is no longer than a full file.
 */
export function snapshotStart(files: readonly SizedFile[], { segmentBytes }: LogLimits): number | undefined {
  let start = files.length
  let bytes = 0
  for (; start > 0; start--) {
    const size = files[start - 1]?.size ?? 0
    bytes += size
    if (size >= segmentBytes * longPart || bytes > segmentBytes) break
  }
  let [logs, snapshot] = [0, smallest]
  for (const [index, { kind, size }] of files.slice(start).entries()) {
    if (kind === 'snapshot' && index === 0) snapshot = Math.max(size, smallest)
    else logs += Math.max(size, blockSize)
  }
  if (logs <= snapshot) return undefined
  return start === 0 ? 0 : files[start]?.from
}

/**
 * Puts one file in place of those of the epochs from `from` on that are before `log`, and removes them.
 *
 * **Contract**
 * - Only after a first record of `log` was acknowledged: then no newer writer can go on from a line that an older one adds while this reads.
 *   Not at the claim, where a newer writer might, and would lose it.
 * - A crash at any point leaves the old files, the new one, or both; a newer writer that does the same at the same time does no harm.
 * - Rejects with the system's error; nothing is lost then.
 */
export async function takeSnapshot(operations: FileOperations, { folder, epoch }: HeldLog, from: number): Promise<void> {
  const files = (await listEpochs(operations, folder)) ?? []
  const replaced = files.filter((file) => file.kind !== 'blob' && file.epoch < epoch && file.from >= from)
  const older = await sizesOf(
    operations,
    folder,
    countingFiles(files).filter((file) => replaced.includes(file)),
  )
  const target = join(folder, from === 0 ? `snapshot.${epoch}` : `snapshot.${epoch}.${from}`)
  const unfinished = `${target}.tmp`
  try {
    await operations.createExclusive(unfinished)
    for await (const lines of linesIn(operations, folder, older)) await appendLines(operations, unfinished, lines)
    await operations.sync(unfinished)
    await operations.rename(unfinished, target)
  } catch (error) {
    await operations.remove(unfinished).catch(() => {})
    throw error
  }
  await operations.syncDirectory(folder)
  await removeFiles(operations, folder, replaced)
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
