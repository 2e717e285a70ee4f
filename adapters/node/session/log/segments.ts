import { join } from 'node:path'
import type { FileOperations } from '../file-operations.ts'
import type { HeldLog } from './claim.ts'
import { appendLines, createdFirst, isAbsent, listEpochs, newestEpoch } from './epoch-files.ts'

/** Size limits of log files. */
export interface LogLimits {
  /** Bytes of a file before it is full, unless it is empty. */
  segmentBytes: number
  /** A longer log is read on demand, in bytes. */
  atOnceBytes: number
}

/** The limits of `fileSessionStore`. */
export const logLimits: LogLimits = { segmentBytes: 64 * 1024 * 1024, atOnceBytes: 4 * 1024 * 1024 }

/** An open log, and the length of its current file. */
export interface SegmentedLog extends HeldLog {
  bytes: number
}

/**
 * Appends lines to a log, in a new file if the current one is full. Durable when this resolves. Returns `false`, possibly after a part, if a newer
 * epoch started or the session was deleted.
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

/** The next file has the name of a newer writer's log: of two that create it, one gets the right to write. */
async function beginSegment(operations: FileOperations, log: SegmentedLog): Promise<boolean> {
  // A reader that finds a line in the next file relies on this one.
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
  // A later deletion sees the new file; an earlier one is detected here.
  const files = (await listEpochs(operations, log.folder)) ?? []
  if (newestEpoch(files, 'deleted') > log.deletedUpTo || !(await isStored(operations, before))) {
    await operations.remove(path)
    return false
  }
  await operations.syncDirectory(log.folder)
  return newestEpoch(files) === segment
}

/** Returns whether the current file still has its name, and was not replaced after a deletion. */
export async function isStored(operations: FileOperations, { path, bytes }: SegmentedLog): Promise<boolean> {
  try {
    return (await operations.stat(path)).size === bytes
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
}
