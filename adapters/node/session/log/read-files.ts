import { join } from 'node:path'
import { decodeLine } from '../../../../src/internal.ts'
import type { LogClaim } from '../../../../src/session.ts'
import { systemCode } from '../../workspace/fs-errors.ts'
import { type FileOperations, sessionFailure, takenOver } from '../file-operations.ts'
import { type HeldLog, olderThan } from './claim.ts'
import { allLinesIn, bytesIn, countingFiles, linesIn, type SizedFile, sizesOf, withEpochs } from './epoch-files.ts'
import type { LogLimits } from './segments.ts'

/** What is read, and from where. */
interface Source {
  operations: FileOperations
  sessionId: string
  folder: string
  limits: LogLimits
  /** What is asked for comes after this record. */
  after?: number
}

/** How much of a file is looked at first, from its end, for where that begins. */
const windowBytes = 64 * 1024

/** The files that count as they are by now; `undefined` where the session is gone. */
type LookAgain = () => Promise<SizedFile[] | undefined>

/** What a claim gives of what it found: all of it, or of a long log a stream. */
export async function claimedLines(source: Source, files: readonly SizedFile[], log: HeldLog): Promise<Pick<LogClaim, 'lines' | 'more'>> {
  const { operations, folder, limits } = source
  if (bytesIn(files) <= limits.atOnceBytes) return { lines: await allLinesIn(operations, folder, files) }
  const again: LookAgain = async () => {
    const found = await withEpochs(operations, folder, async (epochs) => {
      const older = olderThan(log, epochs)
      return older && sizesOf(operations, folder, older)
    })
    // What is left of it must not pass for all of it.
    if (found === undefined) throw takenOver(source.sessionId, log.epoch)
    return found
  }
  return { lines: [], more: streamOf(source, files, again) }
}

/** What is stored, by batches; `undefined` where that is nothing. */
export async function streamedLines(source: Source): Promise<AsyncIterable<string[]> | undefined> {
  const { operations, folder } = source
  const look: LookAgain = () => withEpochs(operations, folder, (epochs) => sizesOf(operations, folder, countingFiles(epochs)))
  const files = await look()
  return files === undefined || bytesIn(files) === 0 ? undefined : streamOf(source, files, look)
}

/** The `seq` of the last whole line of the newest file; `undefined` where there is none in its last 64 KiB, or the session is gone. */
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

/** From the beginning again where a file is gone meanwhile: a snapshot has taken its place, or another session. */
async function* streamOf(source: Source, files: readonly SizedFile[], again: LookAgain): AsyncGenerator<string[], void, undefined> {
  const { sessionId, after = 0 } = source
  for (let [left, before]: [readonly SizedFile[] | undefined, string] = [files, '']; left !== undefined; ) {
    try {
      return yield* linesAfter(source, left, after)
    } catch (error) {
      const names = left.map(({ name }) => name).join()
      // Gone although the names are the same: another try would not help.
      if (systemCode(error) !== 'ENOENT' || names === before) throw sessionFailure(error, `read session ${sessionId}`)
      before = names
      left = await again()
    }
  }
}

/**
 * The lines of files from the first one after record `after` on, and some before it: from the newest file on whose first line does not come after that,
 * because what its writer went on from is not asked for either. Of that file only the end, where it is a log: its records are in their order.
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

/** Of a session that was stored as a whole the end may be missing: then what is older counts. */
async function beginsBefore(operations: FileOperations, folder: string, { name, size }: SizedFile, after: number): Promise<boolean> {
  // A first line that is longer is looked at as a whole.
  const begins = (to: number) => operations.readLines(join(folder, name), { from: 0, to })
  const { lines } = await begins(Math.min(size, windowBytes))
  const place = placeOf(lines[0]) ?? placeOf((await begins(size)).lines[0])
  return place !== undefined && place.whole === undefined && place.from <= after + 1 && place.seq <= after + 1
}

/** A byte before the first line of a log that comes after the record, in or before a line that does not; 0 where that is at its beginning. */
async function startOf(operations: FileOperations, folder: string, { name, size }: SizedFile, after: number): Promise<number> {
  for (let bytes = windowBytes; bytes < size; bytes *= 4) {
    const { lines } = await operations.readLines(join(folder, name), { from: size - bytes, to: size })
    // The first one is the end of a line.
    const place = placeOf(lines[1])
    if (place !== undefined && place.seq <= after) return size - bytes
  }
  return 0
}

function placeOf(line: string | undefined) {
  const decoded = decodeLine(line ?? '')
  return 'kind' in decoded ? undefined : decoded.place
}
