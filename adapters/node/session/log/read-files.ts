import { join } from 'node:path'
import { decodeLine } from '../../../../src/internal.ts'
import type { LogClaim } from '../../../../src/session.ts'
import { systemCode } from '../../workspace/fs-errors.ts'
import { type FileOperations, sessionFailure, takenOver } from '../file-operations.ts'
import { type HeldLog, olderThan } from './claim.ts'
import { allLinesIn, bytesIn, countingFiles, linesIn, type SizedFile, sizesOf, withEpochs } from './epoch-files.ts'
import type { LogLimits } from './segments.ts'

/** Files to read, and the start position. */
interface Source {
  operations: FileOperations
  sessionId: string
  folder: string
  limits: LogLimits
  /** Sequence number after which records are needed. */
  after?: number
}

/** First bytes read from the end of a file to find its start. */
const windowBytes = 64 * 1024

/** Returns the currently valid files, or `undefined` if the session does not exist. */
type LookAgain = () => Promise<SizedFile[] | undefined>

/** Returns the data that a claim found, or a stream for a long log. */
export async function claimedLines(source: Source, files: readonly SizedFile[], log: HeldLog): Promise<Pick<LogClaim, 'lines' | 'more'>> {
  const { operations, folder, limits } = source
  if (bytesIn(files) <= limits.atOnceBytes) return { lines: await allLinesIn(operations, folder, files) }
  const again: LookAgain = async () => {
    const found = await withEpochs(operations, folder, async (epochs) => {
      const older = olderThan(log, epochs)
      return older && sizesOf(operations, folder, older)
    })
    // Rejects, because an incomplete remainder must not look complete.
    if (found === undefined) throw takenOver(source.sessionId, log.epoch)
    return found
  }
  return { lines: [], more: streamOf(source, files, again) }
}

/** Returns the stored data in batches, or `undefined` if there are none. */
export async function streamedLines(source: Source): Promise<AsyncIterable<string[]> | undefined> {
  const { operations, folder } = source
  const look: LookAgain = () => withEpochs(operations, folder, (epochs) => sizesOf(operations, folder, countingFiles(epochs)))
  const files = await look()
  return files === undefined || bytesIn(files) === 0 ? undefined : streamOf(source, files, look)
}

/**
 * Returns the `seq` of the newest file's last complete line, or `undefined` if the last 64 KiB contain none, or the session does not exist.
 */
export async function lastSeqOf({ operations, folder }: Pick<Source, 'operations' | 'folder'>): Promise<number | undefined> {
  return withEpochs(operations, folder, async (epochs) => {
    for (const file of (await sizesOf(operations, folder, countingFiles(epochs))).toReversed()) {
      if (file.size === 0) continue
      const { lines } = await operations.readLines(join(folder, file.name), { from: Math.max(0, file.size - windowBytes), to: file.size })
      return lines.map(placeOf).findLast((place) => place !== undefined)?.seq
    }
    return undefined
  })
}

/** Restarts from the beginning if a file disappears because a snapshot or another session has replaced it. */
async function* streamOf(source: Source, files: readonly SizedFile[], again: LookAgain): AsyncGenerator<string[], void, undefined> {
  const { sessionId, after = 0 } = source
  for (let [left, before]: [readonly SizedFile[] | undefined, string] = [files, '']; left !== undefined; ) {
    try {
      return yield* linesAfter(source, left, after)
    } catch (error) {
      const names = left.map(({ name }) => name).join()
      // The file is missing although the names are unchanged, so a retry would not help.
      if (systemCode(error) !== 'ENOENT' || names === before) throw sessionFailure(error, `read session ${sessionId}`)
      before = names
      left = await again()
    }
  }
}

/**
 * Yields the lines after record `after`, and some before it. Starts with the newest file whose first line is not after it, because earlier
 * data are not needed. Reads only the end of a log file, because its records are in order.
 */
async function* linesAfter(
  { operations, folder }: Source,
  files: readonly SizedFile[],
  after: number,
): AsyncGenerator<string[], void, undefined> {
  for (let at = files.length - 1; after > 0 && at >= 0; at--) {
    const file = files[at]
    if (file === undefined || !(await beginsBefore(operations, folder, file, after))) continue
    const start = file.kind === 'log' ? await startOf(operations, folder, file, after) : 0
    let isCut = start > 0
    for await (const lines of linesIn(operations, folder, files.slice(at), start)) {
      yield isCut ? lines.slice(1) : lines
      isCut = false
    }
    return
  }
  yield* linesIn(operations, folder, files)
}

/** The end of a session stored as a whole may be missing, in which case older files apply. */
async function beginsBefore(operations: FileOperations, folder: string, { name, size }: SizedFile, after: number): Promise<boolean> {
  // A longer first line is read as a whole.
  const begins = (to: number) => operations.readLines(join(folder, name), { from: 0, to })
  const { lines } = await begins(Math.min(size, windowBytes))
  const place = placeOf(lines[0]) ?? placeOf((await begins(size)).lines[0])
  return place !== undefined && place.whole === undefined && place.from <= after + 1 && place.seq <= after + 1
}

/** Returns a position at or before the first line after the record, or 0 at the start of the file. */
async function startOf(operations: FileOperations, folder: string, { name, size }: SizedFile, after: number): Promise<number> {
  for (let bytes = windowBytes; bytes < size; bytes *= 4) {
    const { lines } = await operations.readLines(join(folder, name), { from: size - bytes, to: size })
    // The first line is partial.
    const place = placeOf(lines[1])
    if (place !== undefined && place.seq <= after) return size - bytes
  }
  return 0
}

function placeOf(line: string | undefined) {
  const decoded = decodeLine(line ?? '')
  return 'kind' in decoded ? undefined : decoded.place
}
