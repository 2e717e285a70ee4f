import { join } from 'node:path'
import { systemCode } from '../../workspace/fs-errors.ts'
import type { FileOperations } from '../file-operations.ts'

/**
 * - `log.N`: what the writer of epoch N appended. When it is full the writer goes on in `log.N+1`, which nobody else can then create: a log is
 *   a row of segments.
 * - `snapshot.N`: everything that counts of the epochs before N, in place of their files. `snapshot.N.F`: of those from F on; older files stay.
 * - `deleted.N`: the session was deleted; epochs up to N do not count. It is empty, and stays until their files are gone and no writer is left.
 * - `blob.N.<hash>`: bytes that the writer of epoch N keeps beside the log. They are of no line, and count as long as one names them.
 * - `….tmp`: a snapshot or bytes that are not finished, or never will be.
 */
export interface EpochFile {
  kind: 'log' | 'snapshot' | 'deleted' | 'blob' | 'unfinished'
  epoch: number
  /** The first epoch that it stands for; 0 where it stands for all that are older. */
  from: number
  name: string
  /** Of bytes. */
  hash?: string
}

/** A file that counts, and how much of it. */
export interface SizedFile extends EpochFile {
  /** In bytes. What is written later does not count for whoever reads. */
  size: number
}

/** How long a text is that is written at once: a log may be longer than any string. */
const pieceChars = 8 * 1024 * 1024

const pattern = /^(log|snapshot|deleted)\.([1-9]\d{0,14})(?:(?<=snapshot\.\d+)\.([1-9]\d{0,14}))?(\.tmp)?$/

const blobPattern = /^blob\.([1-9]\d{0,14})\.([0-9a-f]{64})(\.tmp)?$/

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
  const [, writer, hash, rest] = blobPattern.exec(name) ?? []
  if (hash !== undefined) {
    const epoch = Number(writer)
    return [rest === undefined ? { kind: 'blob', epoch, from: epoch, name, hash } : { kind: 'unfinished', epoch, from: epoch, name }]
  }
  const [, kind, digits, start, unfinished] = pattern.exec(name) ?? []
  if (kind === undefined) return []
  const epoch = Number(digits)
  const from = kind === 'snapshot' ? Number(start ?? 0) : epoch
  // The pattern has just shown that `kind` is one of the three.
  return [{ kind: unfinished === undefined ? (kind as 'log' | 'snapshot' | 'deleted') : 'unfinished', epoch, from, name }]
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

/** The files that count, in the order of their epochs: those that no snapshot stands for. */
export function countingFiles(files: readonly EpochFile[]): EpochFile[] {
  const since = newestEpoch(files, 'deleted')
  const later = files.filter(({ kind, epoch }) => (kind === 'log' || kind === 'snapshot') && epoch > since)
  const snapshots = later.filter(({ kind }) => kind === 'snapshot')
  return later
    .filter((file) => !snapshots.some((snapshot) => snapshot !== file && isWithin(file, snapshot)))
    .toSorted((a, b) => a.from - b.from || a.epoch - b.epoch)
}

/** Whether a snapshot stands for all that is in a file. */
function isWithin({ kind, from, epoch }: EpochFile, snapshot: EpochFile): boolean {
  const last = kind === 'log' ? epoch : epoch - 1
  return from >= snapshot.from && last < snapshot.epoch
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
 * How long files are, looked at from the newest on: what a writer found in older files before it wrote is then within their lengths too. Gives
 * them in the order of `files`.
 */
export async function sizesOf(operations: FileOperations, folder: string, files: readonly EpochFile[]): Promise<SizedFile[]> {
  const sized: SizedFile[] = []
  for (const file of files.toReversed()) sized.push({ ...file, size: (await operations.stat(join(folder, file.name))).size })
  return sized.reverse()
}

/** The lines of files, a megabyte or so at a time; the end of a line that was cut counts as one. */
export async function* linesIn(
  operations: FileOperations,
  folder: string,
  files: readonly SizedFile[],
  start = 0,
): AsyncGenerator<string[], void, undefined> {
  let from = start
  for (const { name, size } of files) {
    while (from < size) {
      const { lines, next } = await operations.readLines(join(folder, name), { from, to: size })
      from = next
      yield lines.filter((line) => line !== '')
    }
    from = 0
  }
}

/** All lines of files. */
export async function allLinesIn(operations: FileOperations, folder: string, files: readonly SizedFile[]): Promise<string[]> {
  const all: string[] = []
  for await (const lines of linesIn(operations, folder, files)) for (const line of lines) all.push(line)
  return all
}

export function bytesIn(files: readonly SizedFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0)
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

/** Adds lines to a file, some megabytes at a time. */
export async function appendLines(operations: FileOperations, path: string, lines: readonly string[]): Promise<void> {
  let text = ''
  for (const line of lines) {
    text += `${line}\n`
    if (text.length < pieceChars) continue
    await operations.append(path, text)
    text = ''
  }
  if (text !== '') await operations.append(path, text)
}
