import { join } from 'node:path'
import { digestOfLines } from '../../../../src/internal.ts'
import type { SessionDigest } from '../../../../src/session.ts'
import { systemCode } from '../../workspace/fs-errors.ts'
import type { FileOperations } from '../file-operations.ts'
import { folderOf } from '../folder-name.ts'
import type { HeldLog } from '../log/claim.ts'
import { countingFiles, type EpochFile, linesIn, sizesOf } from '../log/epoch-files.ts'

/** The end of a session's log: its last file, and the valid size of that file. */
export interface LogEnd {
  file: EpochFile
  size: number
  modified: number
}

/** Bytes between summaries, which a list may have to read. */
export const summaryIntervalChars = 64 * 1024

/** Stored next to the sessions, because no id starts with a dot. */
const folderName = '.summaries'

/**
 * Summaries of sessions in `.summaries/<folder of the session>`, for a log at a given length. Summaries are not synced, because a missing,
 * outdated or damaged summary is recomputed from the logs.
 */
export class SummaryFiles {
  readonly #operations: FileOperations
  readonly #root: string

  constructor(operations: FileOperations, root: string) {
    this.#operations = operations
    this.#root = root
  }

  /** Never rejects, because the log contains the same data. */
  async write(sessionId: string, { path, segment }: Pick<HeldLog, 'path' | 'segment'>, digest: SessionDigest): Promise<void> {
    const operations = this.#operations
    const target = this.#pathOf(sessionId)
    // Folder names are nearly as long as the file system allows.
    const unfinished = join(this.#root, folderName, `~${folderOf(sessionId).slice(0, 200)}.${segment}`)
    try {
      const { size } = await operations.stat(path)
      await operations.makeDirectory(join(this.#root, folderName)).catch(passing('EEXIST'))
      await operations.createExclusive(unfinished)
      await operations.append(unfinished, JSON.stringify({ log: `log.${segment}`, bytes: size, digest }))
      await operations.rename(unfinished, target)
    } catch {
      await operations.remove(unfinished).catch(() => {})
    }
  }

  /** Rejects with the system's error. */
  async remove(sessionId: string): Promise<void> {
    await this.#operations.remove(this.#pathOf(sessionId)).catch(passing('ENOENT', 'ENOTDIR'))
  }

  /** Returns the summary of a session with this end, from the stored summary and later records, otherwise from all valid records. */
  async digestOf(sessionId: string, folder: string, files: readonly EpochFile[], { file, size }: LogEnd): Promise<SessionDigest> {
    const operations = this.#operations
    const summary = readSummary(await operations.read(this.#pathOf(sessionId)).catch(() => ''))
    if (summary?.log !== file.name || summary.bytes > size)
      return digestOfLines(linesIn(operations, folder, await sizesOf(operations, folder, countingFiles(files))))
    return summary.bytes === size
      ? summary.digest
      : digestOfLines(linesIn(operations, folder, [{ ...file, size }], summary.bytes), summary.digest)
  }

  #pathOf(sessionId: string): string {
    return join(this.#root, folderName, folderOf(sessionId))
  }
}

/** The last file with records, or `undefined` if there is none. */
export async function endOf(operations: FileOperations, folder: string, files: readonly EpochFile[]): Promise<LogEnd | undefined> {
  for (const file of countingFiles(files).toReversed()) {
    const { size, modified } = await operations.stat(join(folder, file.name))
    if (size > 0) return { file, size, modified }
  }
  return undefined
}

function passing(...codes: readonly string[]): (error: unknown) => void {
  return (error) => {
    if (!codes.includes(systemCode(error) ?? '')) throw error
  }
}

function readSummary(text: string): { log: string; bytes: number; digest: SessionDigest } | undefined {
  try {
    const { log, bytes, digest } = JSON.parse(text) as { log?: unknown; bytes?: unknown; digest?: Partial<SessionDigest> | null } // checked below
    if (typeof log !== 'string' || typeof bytes !== 'number') return undefined
    if (typeof digest?.loops !== 'number' || typeof digest.messages !== 'number') return undefined
    return { log, bytes, digest: { ...digest, loops: digest.loops, messages: digest.messages } }
  } catch {
    return undefined
  }
}
