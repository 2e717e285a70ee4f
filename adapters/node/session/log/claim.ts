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

/** Beside the sessions: no id begins with a dot. */
const folderName = '.deleted'

const epochName = /^[1-9]\d{0,14}$/

/**
 * The newest epoch of all sessions below `root` whose folders were removed; 0 without one. A session begins after it: whoever still holds a log of
 * the deleted one must not find its name again.
 */
async function removedUpTo(operations: FileOperations, root: string): Promise<number> {
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

/** The log of one writer, as long as it may write. */
export interface HeldLog {
  epoch: number
  folder: string
  /** The number of the file that is written: `epoch`, and one more for each that was full. */
  segment: number
  path: string
  /** The newest deletion that this writer knows of. */
  deletedUpTo: number
}

/** What a claim found. */
export interface Found<T> {
  log: HeldLog
  /** The files that count, this writer's own empty log left out. */
  files: SizedFile[]
  /** What was made of them. */
  read: T
}

/** How often a session may be deleted while one claim is under way, before something else must be wrong. */
const mostDeletions = 10

/**
 * Begins the next epoch in `folder`, which is made where it is missing.
 *
 * **Contract**
 * - The log is created before anything is read. A writer that was not refused by then had written before, so what it wrote is found.
 * - No epoch of a session whose folder was removed comes again: who holds a log of that epoch would take this one for its own.
 * - What was found, and the new log, survive a power cut when this resolves: nothing later may rest on what could still vanish.
 * - `read` is called with what was found, and again when one of the files is gone by then.
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
      // The session was deleted meanwhile, and this log with it.
      if (systemCode(error) !== 'ENOENT' || ++vanished === mostDeletions) throw error
      continue
    }
    await operations.close?.(log.path)
  }
}

/** `undefined` when somebody has begun a newer epoch, or deleted the session, since this log was created. */
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
  // A folder was removed since this epoch was chosen, perhaps this session's: somebody may hold a log of that name.
  if ((await removedUpTo(operations, dirname(folder))) >= created.epoch) {
    await operations.remove(path)
    return undefined
  }
  await operations.sync(path)
  await operations.syncDirectory(folder)
  return found
}

/** The files that count before a writer's own; `undefined` when somebody has begun a newer epoch than its, or deleted the session. */
export function olderThan({ epoch }: Pick<HeldLog, 'epoch'>, files: readonly EpochFile[]): EpochFile[] | undefined {
  if (newestEpoch(files) > epoch || newestEpoch(files, 'deleted') === epoch) return undefined
  return countingFiles(files).filter((file) => file.epoch < epoch)
}

/** Logs that may hold what is not yet durable. Whoever has written a whole line had synced what was there before. */
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
