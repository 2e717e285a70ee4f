import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, rmdir, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SessionError } from '../../../src/session.ts'
import { systemCode } from '../workspace/fs-errors.ts'

/**
 * File system operations of the file driver, one call each, so that the same driver also runs on a simulated disk that loses what was not
 * synced.
 *
 * **Contract**
 * - Paths are absolute. Rejects with the system's error: `code` is `ENOENT` for a missing path, `EEXIST` for an existing one.
 * - Nothing is durable before `sync` (file content) and `syncDirectory` (directory entries) have resolved.
 */
export interface FileOperations {
  /** Creates an empty private file; of several concurrent calls exactly one succeeds, the others get `EEXIST`. */
  createExclusive(path: string): Promise<void>
  /** Adds to the end of a file that is there. A crash may leave any part of `data`. */
  append(path: string, data: string | Uint8Array<ArrayBuffer>): Promise<void>
  sync(path: string): Promise<void>
  syncDirectory(path: string): Promise<void>
  /** Reads the file as text from byte `from`; invalid UTF-8 becomes U+FFFD. With `bytes`, only about that many. */
  read(path: string, part?: { from?: number; bytes?: number }): Promise<string>
  /** Yields whole lines from byte `from`, about a megabyte at a time, because a file may be longer than any string. */
  readLines(path: string, part: FilePart): Promise<LinesRead>
  readBytes(path: string): Promise<Uint8Array<ArrayBuffer>>
  /** The names in a directory, in any order. */
  list(directory: string): Promise<string[]>
  /** Replaces `to` atomically. */
  rename(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
  /** Removes an empty directory; rejects with `ENOTEMPTY` or `EEXIST` otherwise. */
  removeDirectory(path: string): Promise<void>
  /** Makes a directory that only its owner may enter. */
  makeDirectory(path: string): Promise<void>
  /** Returns the modification time in epoch milliseconds, and the size in bytes. */
  stat(path: string): Promise<{ modified: number; size: number }>
  /** Releases the handle that is kept for `path` between appends. */
  close?(path: string): Promise<void>
}

/** The range of a file to read, in bytes. */
export interface FilePart {
  from: number
  /** The exclusive end. */
  to: number
}

/** Some lines of a part. */
export interface LinesRead {
  /** At the end of the range, the text after the last line break is the last line, even if empty. */
  lines: string[]
  /** The byte at which the next ones begin; the end of the part when these were the last. */
  next: number
}

/** Unlike `a`, it does not create a file: a deleted one must not reappear. */
const appendOnly = constants.O_WRONLY | constants.O_APPEND

/** How much of a log is read at a time. */
const pieceBytes = 1024 * 1024

/** Conversations are private. */
const ownerOnly = { file: 0o600, directory: 0o700 }

/** The host's file system. A file stays open from `createExclusive` until `close`, `rename` or `remove`. */
export function nodeFileOperations(): Required<FileOperations> {
  const held = new Map<string, FileHandle>()

  async function close(path: string): Promise<void> {
    const handle = held.get(path)
    held.delete(path)
    await handle?.close()
  }

  return {
    close,
    list: (directory) => readdir(directory),
    makeDirectory: (path) => mkdir(path, { mode: ownerOnly.directory }),
    // In one piece: with an encoding it would be decoded chunk by chunk.
    read: async (path, part) => (part === undefined ? (await readFile(path)).toString() : readPart(path, part)),
    readLines: (path, part) => using(path, 'r', (handle) => linesFrom(handle, part)),
    async createExclusive(path) {
      held.set(path, await createPrivate(path))
    },
    readBytes: (path) => readFile(path),
    async append(path, data) {
      const handle = held.get(path)
      if (handle === undefined) await using(path, appendOnly, (opened) => opened.appendFile(data))
      else await handle.appendFile(data)
    },
    async sync(path) {
      const handle = held.get(path)
      if (handle === undefined) await using(path, 'r+', (opened) => opened.datasync())
      else await handle.datasync()
    },
    syncDirectory,
    async rename(from, to) {
      await close(from)
      await rename(from, to)
    },
    async remove(path) {
      await close(path)
      await unlink(path)
    },
    removeDirectory: (path) => rmdir(path),
    async stat(path) {
      const { mtimeMs, size } = await stat(path)
      return { modified: mtimeMs, size }
    },
  }
}

/** Makes the names in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open a directory; NTFS keeps its names in a journal.
  if (process.platform !== 'win32') await using(path, 'r', (opened) => opened.sync())
}

async function using<T>(path: string, flags: string | number, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(path, flags)
  try {
    return await use(handle)
  } finally {
    await handle.close()
  }
}

const lineBreak = 10

async function linesFrom(handle: FileHandle, { from, to }: FilePart): Promise<LinesRead> {
  const lines: string[] = []
  /** The beginning of a line whose end is not read yet. */
  let begun: Buffer[] = []
  for (let at = from; ; ) {
    const length = Math.min(pieceBytes, to - at)
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(length), 0, length, at)
    let start = 0
    for (let end = buffer.indexOf(lineBreak); end >= 0 && end < bytesRead; end = buffer.indexOf(lineBreak, start)) {
      const rest = buffer.subarray(start, end)
      lines.push((begun.length === 0 ? rest : Buffer.concat([...begun, rest])).toString())
      begun = []
      start = end + 1
    }
    if (bytesRead === 0 || at + bytesRead === to) {
      lines.push(Buffer.concat([...begun, buffer.subarray(start, bytesRead)]).toString())
      return { lines, next: to }
    }
    if (lines.length > 0) return { lines, next: at + start }
    begun.push(buffer.subarray(start, bytesRead))
    at += bytesRead
  }
}

async function readPart(path: string, { from = 0, bytes }: { from?: number; bytes?: number }): Promise<string> {
  return using(path, 'r', async (handle) => {
    const length = bytes ?? Math.max((await handle.stat()).size - from, 0)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from)
    return buffer.toString('utf8', 0, bytesRead)
  })
}

/** Creates a private file for appending; rejects with `EEXIST` if it exists. */
export function createPrivate(path: string): Promise<FileHandle> {
  return open(path, 'ax', ownerOnly.file)
}

/** A failed file operation as a `SessionError`, without the path that the system's own message holds. A `SessionError` passes. */
export function sessionFailure(error: unknown, what: string): SessionError {
  if (SessionError.isInstance(error)) return error
  const code = systemCode(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    // In the message, because an error that ends a run shows nothing else.
    return new SessionError('quota', `Cannot ${what}: no room on the disk. Delete old sessions or free some space, then try again.`)
  }
  const hint =
    code === 'EMFILE' || code === 'ENFILE'
      ? 'Close writers that are no longer used.'
      : 'Check that the directory of the sessions is on a working disk and that this process may read and write it.'
  return new SessionError('io', `Cannot ${what}: ${code ?? 'the file system failed'}.`, { hint })
}

/** Runs `operation`; a failure becomes a `SessionError` with `what`. */
export async function reported<T>(what: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (error) {
    throw sessionFailure(error, what)
  }
}

/** The error of a writer that lost ownership. */
export function takenOver(sessionId: string, epoch: number): SessionError {
  return new SessionError(
    'conflict',
    `A writer after epoch ${epoch} has taken over session ${sessionId}, or it was deleted. The last write may be lost. Use resumeAgent to continue the session.`,
  )
}

/**
 * Creates a directory and its missing parents. Its entry in the parent is durable when this resolves, also if another process has just
 * created it.
 */
export async function makeDurableDirectory(operations: FileOperations, path: string): Promise<void> {
  const parent = dirname(path)
  try {
    await operations.makeDirectory(path)
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' && parent !== path) {
      await makeDurableDirectory(operations, parent)
      return makeDurableDirectory(operations, path)
    }
    if (code !== 'EEXIST') throw error
  }
  await operations.syncDirectory(parent)
}

/**
 * Makes all directory entries up to the root durable, because the process that created them may have been killed before. Skips directories
 * that this process cannot open; they are old and foreign.
 */
export async function syncPathTo(operations: FileOperations, path: string): Promise<void> {
  const parent = dirname(path)
  if (parent === path) return
  try {
    await operations.syncDirectory(parent)
  } catch (error) {
    if (!isForbidden(error)) throw error
  }
  await syncPathTo(operations, parent)
}

/** Of the system, or of Deno, which has no code for a directory that is not permitted. */
function isForbidden(error: unknown): boolean {
  const code = systemCode(error)
  return code === 'EACCES' || code === 'EPERM' || (error instanceof Error && error.name === 'NotCapable')
}
