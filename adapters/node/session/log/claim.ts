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

/** Next to the sessions: no id starts with a dot. */
const folderName = '.deleted'

const epochName = /^[1-9]\d{0,14}$/

/**
 * Returns the newest epoch of deleted sessions below `root`; 0 without one. A new session starts after it, because a writer with a log of the
 * deleted one must not find its name again.
 */
async function removedUpTo(operations: FileOperations, root: string): Promise<number> {
  return Math.max(0, ...(await removedEpochs(operations, root)))
}

/** Records that no later session has an epoch up to this one. Durable when it resolves. */
export async function noteRemoved(operations: FileOperations, root: string, epoch: number): Promise<void> {
  const folder = join(root, folderName)
  const before = await removedEpochs(operations, root)
  if (before.some((each) => each >= epoch)) return
  await makeDurableDirectory(operations, folder)
  const path = join(folder, String(epoch))
  if (await createdFirst(operations, path)) await operations.close?.(path)
  await operations.syncDirectory(folder)
  // Keeps the previous marker too, because a concurrent listing may miss the new one.
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

/** The log of one writer, while it may write. */
export interface HeldLog {
  epoch: number
  folder: string
  /** Number of the current file: `epoch`, plus 1 for each full file. */
  segment: number
  path: string
  /** The newest deletion that this writer knows. */
  deletedUpTo: number
}

/** Result of a claim. */
export interface Found<T> {
  log: HeldLog
  /** The valid files, without this writer's own empty log. */
  files: SizedFile[]
  /** The result of `read`. */
  read: T
}

/** Maximum number of deletions during one claim; more indicate another fault. */
const mostDeletions = 10

/**
 * Starts the next epoch in `folder`, which is created if missing.
 *
 * **Contract**
 * - The log is created before anything is read. An older writer that was not yet rejected has written before, so its data are found.
 * - Epochs of a deleted session are never reused, because the owner of a log of that epoch would take the new one for its own.
 * - The data found and the new log survive a power failure when this resolves, because later records depend on them.
 * - `read` is called with the data, and again if one of the files disappears meanwhile.
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
      // The session was deleted meanwhile, with this log.
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
  // A folder was deleted since this epoch was chosen, perhaps of this session: another writer may have a log of that name.
  if ((await removedUpTo(operations, dirname(folder))) >= created.epoch) {
    await operations.remove(path)
    return undefined
  }
  await operations.sync(path)
  await operations.syncDirectory(folder)
  return found
}

/** Returns the valid files before a writer's own; `undefined` if a newer epoch started, or the session was deleted. */
export function olderThan({ epoch }: Pick<HeldLog, 'epoch'>, files: readonly EpochFile[]): EpochFile[] | undefined {
  if (newestEpoch(files) > epoch || newestEpoch(files, 'deleted') === epoch) return undefined
  return countingFiles(files).filter((file) => file.epoch < epoch)
}

/** Logs that may contain data that are not durable. A writer with a whole line had synced everything before it. */
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
