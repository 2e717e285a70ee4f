import { join } from 'node:path'
import type { FileOperations } from '../file-operations.ts'
import type { HeldLog } from './claim.ts'
import { appendLines, createdFirst, isAbsent, listEpochs, newestEpoch } from './epoch-files.ts'

/** How large the files of a log may be. */
export interface LogLimits {
  /** A file that would become longer is full, unless it is empty; in bytes. */
  segmentBytes: number
  /** What is longer is read as it is asked for, in bytes. */
  atOnceBytes: number
}

/** The limits of `fileSessionStore`. */
export const logLimits: LogLimits = { segmentBytes: 64 * 1024 * 1024, atOnceBytes: 4 * 1024 * 1024 }

/** A log that is written, and the length of the file that is written now. */
export interface SegmentedLog extends HeldLog {
  bytes: number
}

/**
 * Adds lines to a log, in a new file where the one before is full. Durable when this resolves. Gives `false`, and may have written a part, when somebody
 * has begun a newer epoch or deleted the session.
 */
export async function appendToSegments(
  operations: FileOperations,
  log: SegmentedLog,
  lines: readonly string[],
  { segmentBytes }: LogLimits,
): Promise<boolean> {
  let piece: string[] = []
  for (const line of lines) {
    const bytes = Buffer.byteLength(line) + 1
    if (log.bytes > 0 && log.bytes + bytes > segmentBytes) {
      await appendLines(operations, log.path, piece)
      piece = []
      if (!(await beginSegment(operations, log))) return false
    }
    piece.push(line)
    log.bytes += bytes
  }
  await appendLines(operations, log.path, piece)
  await operations.sync(log.path)
  return true
}

/** The next file takes the name that a newer writer would take: of two that want it, one has the right to write. */
async function beginSegment(operations: FileOperations, log: SegmentedLog): Promise<boolean> {
  // Whoever finds a line in the next file takes this one for durable.
  await operations.sync(log.path)
  const segment = log.segment + 1
  const path = join(log.folder, `log.${segment}`)
  const before = { ...log }
  try {
    if (!(await createdFirst(operations, path))) return false
  } catch (error) {
    await operations.close?.(path)
    throw error
  }
  await operations.close?.(log.path)
  Object.assign(log, { segment, path, bytes: 0 })
  // Whoever deletes the session from now on sees the new file; who did before is seen here.
  const files = (await listEpochs(operations, log.folder)) ?? []
  if (newestEpoch(files, 'deleted') > log.deletedUpTo || !(await isStored(operations, before))) {
    await operations.remove(path)
    return false
  }
  await operations.syncDirectory(log.folder)
  return newestEpoch(files) === segment
}

/** Whether the file that is written still has its name, and no other of that name has taken its place after a deletion. */
export async function isStored(operations: FileOperations, { path, bytes }: SegmentedLog): Promise<boolean> {
  try {
    return (await operations.stat(path)).size === bytes
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
}
