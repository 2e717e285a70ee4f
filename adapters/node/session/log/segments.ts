import { join } from 'node:path'
import type { FileOperations } from '../file-operations.ts'
import type { HeldLog } from './claim.ts'
import { appendLines, createdFirst, isAbsent, listEpochs, newestEpoch } from './epoch-files.ts'

/** Size limits for log files. */
export interface LogLimits {
  /** Maximum bytes of a non-empty file. */
  segmentBytes: number
  /** Length in bytes above which a log is read on demand. */
  atOnceBytes: number
}

/** Limits for `fileSessionStore`. */
export const logLimits: LogLimits = { segmentBytes: 64 * 1024 * 1024, atOnceBytes: 4 * 1024 * 1024 }

/** An open log, and the length of its current file. */
export interface SegmentedLog extends HeldLog {
  bytes: number
}

/**
 * Appends lines to a log, in a new file if the current one is full. Durable when this resolves. Resolves with `false`, possibly after
 * writing a part, if a newer epoch started or the session was deleted.
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

/** The next file has the name of a newer writer's log. Only one of two writers can create it, and that writer may write. */
async function beginSegment(operations: FileOperations, log: SegmentedLog): Promise<boolean> {
  // A reader that finds a line in the next file relies on this file.
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
  // A later deletion detects the new file. An earlier deletion is detected here.
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
