import { join } from 'node:path'
import { systemCode } from '../workspace/fs-errors.ts'
import type { FileOperations } from './file-operations.ts'

/**
 * - `log.N`: what the writer of epoch N appended.
 * - `snapshot.N`: everything that counts of the epochs before N, in place of their files.
 * - `deleted.N`: the session was deleted; epochs up to N do not count. It is empty, and stays so that writers of those epochs see it.
 * - `snapshot.N.tmp`: a snapshot that is not finished, or never will be.
 */
export interface EpochFile {
  kind: 'log' | 'snapshot' | 'deleted' | 'unfinished'
  epoch: number
  name: string
}

/** A file and its lines; the last one is what follows the last line break. */
export interface ReadFile extends EpochFile {
  lines: string[]
  chars: number
}

/** How long a text is that is written at once: a log may be longer than any string. */
const pieceChars = 8 * 1024 * 1024

const pattern = /^(log|snapshot|deleted)\.([1-9]\d{0,14})(\.tmp)?$/

/** The epoch files in a session's folder; `undefined` when there is no such folder. Other names are left out. */
export async function listEpochs(operations: FileOperations, folder: string): Promise<EpochFile[] | undefined> {
  try {
    return (await operations.list(folder)).flatMap(epochFile)
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

function epochFile(name: string): EpochFile[] {
  const [, kind, digits, unfinished] = pattern.exec(name) ?? []
  if (kind === undefined) return []
  // The pattern has just shown that `kind` is one of the three.
  return [{ kind: unfinished === undefined ? (kind as 'log' | 'snapshot' | 'deleted') : 'unfinished', epoch: Number(digits), name }]
}

/** Whether what was asked for is not there, or a file stands where its folder should. */
export function isAbsent(error: unknown): boolean {
  const code = systemCode(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** The newest epoch, of one kind of file or of any; 0 without one. */
export function newestEpoch(files: readonly EpochFile[], kind?: EpochFile['kind']): number {
  return files.reduce((newest, file) => (kind === undefined || file.kind === kind ? Math.max(newest, file.epoch) : newest), 0)
}

/** The files that count, in the order of their epochs: one snapshot at most, then logs. */
export function countingFiles(files: readonly EpochFile[]): EpochFile[] {
  const since = newestEpoch(files, 'deleted')
  const base = Math.max(since + 1, newestEpoch(files, 'snapshot'))
  const logs = files.filter(({ kind, epoch }) => kind === 'log' && epoch >= base).toSorted((a, b) => a.epoch - b.epoch)
  return [...files.filter(({ kind, epoch }) => kind === 'snapshot' && epoch === base), ...logs]
}

/**
 * Runs `use` with the epoch files of a folder, and again when one of them is gone by then: a snapshot has taken its place, or the session
 * was deleted. Gives `undefined` when there is no such folder.
 */
export async function withEpochs<T>(
  operations: FileOperations,
  folder: string,
  use: (files: EpochFile[]) => Promise<T>,
): Promise<T | undefined> {
  let before: string | undefined
  for (;;) {
    const files = await listEpochs(operations, folder)
    if (files === undefined) return undefined
    try {
      return await use(files)
    } catch (error) {
      const names = files.map(({ name }) => name).join()
      // Gone although the names are the same: nobody is replacing it, so another try would not help.
      if (systemCode(error) !== 'ENOENT' || names === before) throw error
      before = names
    }
  }
}

/**
 * Reads files, the newest first: what a writer found in older files before it wrote is then there too. Gives them in the order of `files`.
 */
export async function readFiles(operations: FileOperations, folder: string, files: readonly EpochFile[]): Promise<ReadFile[]> {
  const read: ReadFile[] = []
  for (const file of files.toReversed()) {
    const lines = await operations.readLines(join(folder, file.name))
    read.push({ ...file, lines, chars: lines.reduce((sum, line) => sum + line.length + 1, -1) })
  }
  return read.reverse()
}

/** The lines of files; the end of a line that was cut counts as one. */
export function linesOf(files: readonly ReadFile[]): string[] {
  return files.flatMap(({ lines }) => lines).filter((line) => line !== '')
}

/** Adds lines to a file, some megabytes at a time. */
export async function appendLines(operations: FileOperations, path: string, lines: readonly string[]): Promise<void> {
  let text = ''
  for (const line of lines) {
    text += `${line}\n`
    if (text.length < pieceChars) continue
    await operations.append(path, text)
    text = ''
  }
  if (text !== '' || lines.length === 0) await operations.append(path, text)
}
