import { dirname, join } from 'node:path'
import { systemCode } from '../../workspace/fs-errors.ts'
import { type FileOperations, makeDurableDirectory } from '../file-operations.ts'
import {
  countingFiles,
  createdFirst,
  type EpochFile,
  isAbsent,
  listEpochs,
  newestEpoch,
  type SizedFile,
  sizesOf,
  withEpochs,
} from './epoch-files.ts'

/** Stored next to the sessions, because no id starts with a dot. */
const folderName = '.deleted'

const epochName = /^[1-9]\d{0,14}$/

/**
 * Returns the newest epoch of any deleted session below `root`, or 0 if there is none. A new session starts after this epoch, because a
 * writer of the deleted session must not find its log's name again.
 */
async function removedUpTo(operations: FileOperations, root: string): Promise<number> {
  return Math.max(0, ...(await removedEpochs(operations, root)))
}

/** Reserves all epochs up to this one, so that no later session uses them. Durable when it resolves. */
export async function noteRemoved(operations: FileOperations, root: string, epoch: number): Promise<void> {
  const folder = join(root, folderName)
  const before = await removedEpochs(operations, root)
  if (before.some((each) => each >= epoch)) return
  await makeDurableDirectory(operations, folder)
  const path = join(folder, String(epoch))
  if (await createdFirst(operations, path)) await operations.close?.(path)
  await operations.syncDirectory(folder)
  // Also keeps the previous marker, because a concurrent listing may miss the new one.
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

/** The log of one writer, while the writer is valid. */
export interface HeldLog {
  epoch: number
  folder: string
  /** Number of the current file: `epoch`, plus 1 for each full file. */
  segment: number
  path: string
  /** Newest deletion known to this writer. */
  deletedUpTo: number
}

/** A claim's result. */
export interface Found<T> {
  log: HeldLog
  /** Valid files, without this writer's empty log. */
  files: SizedFile[]
  /** Result of `read`. */
  read: T
}

/** Maximum deletions during one claim. More indicate a different fault. */
const mostDeletions = 10

/**
 * Starts the next epoch in `folder`, which is created if missing.
 *
 * **Contract**
 * - The log is created before reading. Any older writer that was not rejected has written earlier, so its data are found.
 * - Epochs of a deleted session are never reused, because the writer of a log with the same epoch would mistake the new log for its own.
 * - The data found and the new log survive a power failure when this resolves, because later records depend on them.
 * - `read` is called with the data, and again if one of the files disappears in the meantime.
 */
export async function claimLog<T>(
  operations: FileOperations,
  folder: string,
  read: (files: SizedFile[], log: HeldLog) => Promise<T>,
): Promise<Found<T>> {
  for (let vanished = 0; ; ) {
    await makeDurableDirectory(operations, folder)
    const newest = newestEpoch((await listEpochs(operations, folder)) ?? [])
    const epoch = Math.max(newest, await removedUpTo(operations, dirname(folder))) + 1
    const log = { epoch, folder, segment: epoch, path: join(folder, `log.${epoch}`) }
    try {
      if (!(await createdFirst(operations, log.path))) continue
      const found = await findOlder(operations, log, read)
      if (found !== undefined) return found
    } catch (error) {
      await operations.close?.(log.path)
      // The session and this log were deleted in the meantime.
      if (systemCode(error) !== 'ENOENT' || ++vanished === mostDeletions) throw error
      continue
    }
    await operations.close?.(log.path)
  }
}

/** `undefined` if a newer epoch started, or the session was deleted, since this log was created. */
async function findOlder<T>(
  operations: FileOperations,
  created: Omit<HeldLog, 'deletedUpTo'>,
  read: (files: SizedFile[], log: HeldLog) => Promise<T>,
): Promise<Found<T> | undefined> {
  const { folder, path } = created
  const found = await withEpochs(operations, folder, async (epochs) => {
    const older = olderThan(created, epochs)
    if (older === undefined) return undefined
    const files = await sizesOf(operations, folder, older)
    const log = { ...created, deletedUpTo: newestEpoch(epochs, 'deleted') }
    const found = { log, files, read: await read(files, log) }
    for (const { name } of await unsynced(operations, folder, files)) await operations.sync(join(folder, name))
    return found
  })
  if (found === undefined) return undefined
  // A folder, possibly of this session, was deleted since this epoch was chosen, so another writer may have a log with the same name.
  if ((await removedUpTo(operations, dirname(folder))) >= created.epoch) {
    await operations.remove(path)
    return undefined
  }
  await operations.sync(path)
  await operations.syncDirectory(folder)
  return found
}

/** Returns the valid files before a writer's own, or `undefined` if a newer epoch started, or the session was deleted. */
export function olderThan({ epoch }: Pick<HeldLog, 'epoch'>, files: readonly EpochFile[]): EpochFile[] | undefined {
  if (newestEpoch(files) > epoch || newestEpoch(files, 'deleted') === epoch) return undefined
  return countingFiles(files).filter((file) => file.epoch < epoch)
}

/** Returns logs that may contain data that are not durable. A writer with a complete line has synced all earlier data. */
async function unsynced(operations: FileOperations, folder: string, files: readonly SizedFile[]): Promise<SizedFile[]> {
  const found: SizedFile[] = []
  for (const file of files.toReversed()) {
    if (file.size === 0) continue
    if (file.kind === 'log') found.unshift(file)
    const { lines, next } = await operations.readLines(join(folder, file.name), { from: 0, to: file.size })
    if (next < file.size || lines.length > 1) break
  }
  return found
}
