import { join } from 'node:path'
import { systemCode } from '../../workspace/fs-errors.ts'
import type { FileOperations } from '../file-operations.ts'

/**
 * - `log.N`: records of the writer of epoch N. When the file is full, the writer continues in `log.N+1`, which no other writer can then
 *   create. A log is therefore a sequence of segments.
 * - `snapshot.N`: replaces the files of all epochs before N with their valid data. `snapshot.N.F`: replaces only epochs from F on. Older
 *   files stay.
 * - `deleted.N`: the session was deleted, and epochs up to N are invalid. This empty file remains until their files and writers no longer
 *   exist.
 * - `blob.N.<hash>`: bytes that the writer of epoch N stores next to the log. They are valid while a record references them.
 * - `….tmp`: unfinished snapshots or bytes.
 */
export interface EpochFile {
  kind: 'log' | 'snapshot' | 'deleted' | 'blob' | 'unfinished'
  epoch: number
  /** First epoch that the snapshot covers, or 0 for all older epochs. */
  from: number
  name: string
  /** The bytes' hash. */
  hash?: string
}

/** A valid file, and its valid length. */
export interface SizedFile extends EpochFile {
  /** Valid length in bytes. Readers ignore later data. */
  size: number
}

/** Maximum text length per write, because a log may be longer than any string. */
const pieceChars = 8 * 1024 * 1024

const pattern = /^(log|snapshot|deleted)\.([1-9]\d{0,14})(?:(?<=snapshot\.\d+)\.([1-9]\d{0,14}))?(\.tmp)?$/

const blobPattern = /^blob\.([1-9]\d{0,14})\.([0-9a-f]{64})(\.tmp)?$/

/** Returns the epoch files in a session's folder, or `undefined` without a folder. Ignores other names. */
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
  // The pattern guarantees `kind`.
  return [{ kind: unfinished === undefined ? (kind as 'log' | 'snapshot' | 'deleted') : 'unfinished', epoch, from, name }]
}

/** Returns whether the file does not exist, or its folder is a file. */
export function isAbsent(error: unknown): boolean {
  const code = systemCode(error)
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** Returns the newest epoch for one kind of file or for any kind, or 0 if there is none. */
export function newestEpoch(files: readonly EpochFile[], kind?: EpochFile['kind']): number {
  return files.reduce((newest, file) => (kind === undefined || file.kind === kind ? Math.max(newest, file.epoch) : newest), 0)
}

/** Returns the valid files, which no snapshot covers, ordered by epoch. */
export function countingFiles(files: readonly EpochFile[]): EpochFile[] {
  const since = newestEpoch(files, 'deleted')
  const later = files.filter(({ kind, epoch }) => (kind === 'log' || kind === 'snapshot') && epoch > since)
  const snapshots = later.filter(({ kind }) => kind === 'snapshot')
  return later
    .filter((file) => !snapshots.some((snapshot) => snapshot !== file && isWithin(file, snapshot)))
    .toSorted((a, b) => a.from - b.from || a.epoch - b.epoch)
}

/** Returns whether a snapshot covers a whole file. */
function isWithin({ kind, from, epoch }: EpochFile, snapshot: EpochFile): boolean {
  const last = kind === 'log' ? epoch : epoch - 1
  return from >= snapshot.from && last < snapshot.epoch
}

/**
 * Runs `use` with the epoch files of a folder, and again if one of them disappears in the meantime: a snapshot replaced it, or the session
 * was deleted. Returns `undefined` without a folder.
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
      // The file is missing although the names are unchanged. Nothing replaces it, so a retry would not help.
      if (systemCode(error) !== 'ENOENT' || names === before) throw error
      before = names
    }
  }
}

/**
 * Returns the lengths of files in the order of `files`. Reads the newest file first, so that the lengths include data that a writer found
 * in older files before its first write.
 */
export async function sizesOf(operations: FileOperations, folder: string, files: readonly EpochFile[]): Promise<SizedFile[]> {
  const sized: SizedFile[] = []
  for (const file of files.toReversed()) sized.push({ ...file, size: (await operations.stat(join(folder, file.name))).size })
  return sized.reverse()
}

/** Yields the lines of files, about a megabyte at a time. A truncated last line counts as a line. */
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

/** Returns all lines of files. */
export async function allLinesIn(operations: FileOperations, folder: string, files: readonly SizedFile[]): Promise<string[]> {
  const all: string[] = []
  for await (const lines of linesIn(operations, folder, files)) for (const line of lines) all.push(line)
  return all
}

export function bytesIn(files: readonly SizedFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0)
}

/** Creates an empty file. Resolves with false if it exists. */
export async function createdFirst(operations: FileOperations, path: string): Promise<boolean> {
  try {
    await operations.createExclusive(path)
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return false
    throw error
  }
}

/** Appends lines to a file, a few megabytes at a time. */
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
