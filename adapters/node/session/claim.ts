import { join } from 'node:path'
import { systemCode } from '../workspace/fs-errors.ts'
import { makeDurableDirectory } from './durable-directory.ts'
import { countingFiles, listEpochs, newestEpoch, type ReadFile, readFiles, withEpochs } from './epoch-files.ts'
import type { FileOperations } from './file-operations.ts'

/** The log of one writer, as long as it may write. */
export interface HeldLog {
  epoch: number
  folder: string
  path: string
  /** The newest deletion that this writer knows of. */
  deletedUpTo: number
}

/** What a claim found: the files that count, this writer's own empty log left out. */
export interface Found {
  log: HeldLog
  files: ReadFile[]
}

/** How often a session may be deleted while one claim is under way, before something else must be wrong. */
const mostDeletions = 10

/**
 * Begins the next epoch in `folder`, which is made where it is missing.
 *
 * **Contract**
 * - The log is created before anything is read. A writer that was not refused by then had written before, so what it wrote is found.
 * - What was found, and the new log, survive a power cut when this resolves: nothing later may rest on what could still vanish.
 */
export async function claimLog(operations: FileOperations, folder: string): Promise<Found> {
  for (let vanished = 0; ; ) {
    await makeDurableDirectory(operations, folder)
    const epoch = newestEpoch((await listEpochs(operations, folder)) ?? []) + 1
    const log = { epoch, folder, path: join(folder, `log.${epoch}`) }
    try {
      if (!(await createdFirst(operations, log.path))) continue
      const found = await findOlder(operations, log)
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
async function findOlder(operations: FileOperations, log: Omit<HeldLog, 'deletedUpTo'>): Promise<Found | undefined> {
  const { epoch, folder, path } = log
  const found = await withEpochs(operations, folder, async (files) => {
    const deletedUpTo = newestEpoch(files, 'deleted')
    if (newestEpoch(files) > epoch || deletedUpTo === epoch) return undefined
    const older = countingFiles(files).filter((file) => file.epoch < epoch)
    const read = await readFiles(operations, folder, older)
    for (const { name } of unsynced(read)) await operations.sync(join(folder, name))
    return { log: { ...log, deletedUpTo }, files: read }
  })
  if (found === undefined) return undefined
  await operations.sync(path)
  await operations.syncDirectory(folder)
  return found
}

/** Logs that may hold what is not yet durable. Whoever has written a whole line had synced what was there before. */
function unsynced(files: readonly ReadFile[]): ReadFile[] {
  const newest = files.findLastIndex(({ lines }) => lines.length > 1)
  return files.filter(({ kind, chars }, index) => kind === 'log' && chars > 0 && index >= newest)
}

/** Creates an empty file; false when somebody else has created it already. */
export async function createdFirst(operations: FileOperations, path: string): Promise<boolean> {
  try {
    await operations.createExclusive(path)
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}
