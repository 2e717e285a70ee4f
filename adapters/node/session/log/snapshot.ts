import { join } from 'node:path'
import { systemCode } from '../../workspace/fs-errors.ts'
import type { FileOperations } from '../file-operations.ts'
import type { HeldLog } from './claim.ts'
import { appendLines, countingFiles, type EpochFile, linesIn, listEpochs, type SizedFile, sizesOf } from './epoch-files.ts'
import type { LogLimits } from './segments.ts'

/** Minimum cost per file: one disk block and one read call. */
const blockSize = 4096
/** Below this size, reading the logs is cheaper. */
const smallest = 64 * 1024
/** Fraction of a full file. Larger files stay separate; smaller files are merged. */
const longPart = 1 / 4

/**
 * Returns the first epoch from which a snapshot is worthwhile, or `undefined` if none is. The logs must be larger than the snapshot before
 * them, so that all snapshots together cost no more than the log. Includes only short files at the end, so that a snapshot never exceeds a
 * full file.
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
 * Replaces the files of the epochs from `from` up to `log` by one file.
 *
 * **Contract**
 * - Call it only after the first record of `log` was acknowledged. Then no newer writer can continue from a line that an older writer adds
 *   in the meantime. During the claim, a newer writer could, and would lose that line.
 * - A crash at any point leaves the old files, the new file, or both. A newer writer's concurrent snapshot is harmless.
 * - Rejects with the system's error, without losing data.
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

/** Removes a session's files. Ignores missing files. */
export async function removeFiles(operations: FileOperations, folder: string, files: readonly EpochFile[]): Promise<void> {
  for (const { name } of files) {
    try {
      await operations.remove(join(folder, name))
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error
    }
  }
}
