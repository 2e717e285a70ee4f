import type { LogClaim } from '../../../src/session/index.ts'
import { systemCode } from '../workspace/fs-errors.ts'
import { type HeldLog, olderThan } from './claim.ts'
import { allLinesIn, bytesIn, countingFiles, linesIn, type SizedFile, sizesOf, withEpochs } from './epoch-files.ts'
import type { FileOperations } from './file-operations.ts'
import type { LogLimits } from './segments.ts'
import { sessionFailure, takenOver } from './session-failure.ts'

/** What is read, and from where. */
interface Source {
  operations: FileOperations
  sessionId: string
  folder: string
  limits: LogLimits
}

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

/** From the beginning again where a file is gone meanwhile: a snapshot has taken its place, or another session. */
async function* streamOf(source: Source, files: readonly SizedFile[], again: LookAgain): AsyncGenerator<string[], void, undefined> {
  const { operations, folder, sessionId } = source
  for (let [left, before]: [readonly SizedFile[] | undefined, string] = [files, '']; left !== undefined; ) {
    try {
      return yield* linesIn(operations, folder, left)
    } catch (error) {
      const names = left.map(({ name }) => name).join()
      // Gone although the names are the same: another try would not help.
      if (systemCode(error) !== 'ENOENT' || names === before) throw sessionFailure(error, `read session ${sessionId}`)
      before = names
      left = await again()
    }
  }
}
