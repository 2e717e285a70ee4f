import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, rmdir, stat, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { SessionError } from '../../../src/session.ts'
import { systemCode } from '../workspace/fs-errors.ts'

/**
 * File system operations of the file driver, one system call each, so that tests can run the driver on a simulated disk that loses unsynced
 * data.
 *
 * **Contract**
 * - Paths are absolute. Rejects with the system's error: `code` is `ENOENT` for a missing path, `EEXIST` for an existing one.
 * - Nothing is durable before `sync` (file content) and `syncDirectory` (directory entries) have resolved.
 */
export interface FileOperations {
  /** Creates an empty private file. Of several concurrent calls, exactly one succeeds. The others reject with `EEXIST`. */
  createExclusive(path: string): Promise<void>
  /** Appends to an existing file. A crash may leave any part of `data`. */
  append(path: string, data: string | Uint8Array<ArrayBuffer>): Promise<void>
  sync(path: string): Promise<void>
  syncDirectory(path: string): Promise<void>
  /** Reads the file as text from byte `from`. Invalid UTF-8 becomes U+FFFD. With `bytes`, reads only about that many bytes. */
  read(path: string, part?: { from?: number; bytes?: number }): Promise<string>
  /** Yields whole lines from byte `from`, about a megabyte at a time, because a file may be longer than any string. */
  readLines(path: string, part: FilePart): Promise<LinesRead>
  readBytes(path: string): Promise<Uint8Array<ArrayBuffer>>
  /** Returns the names in a directory, in any order. */
  list(directory: string): Promise<string[]>
  /** Replaces `to` atomically. */
  rename(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
  /** Removes an empty directory. Otherwise, rejects with `ENOTEMPTY` or `EEXIST`. */
  removeDirectory(path: string): Promise<void>
  /** Creates a directory that only its owner can access. */
  makeDirectory(path: string): Promise<void>
  /** Returns the modification time in epoch milliseconds, and the size in bytes. */
  stat(path: string): Promise<{ modified: number; size: number }>
  /** Releases the file handle cached for `path` between appends. */
  close?(path: string): Promise<void>
}

/** The range of a file to read, in bytes. */
export interface FilePart {
  from: number
  /** Exclusive end. */
  to: number
}

/** A batch of lines. */
export interface LinesRead {
  /** The batch's lines. At the end of the range, the text after the last line break is the last line, even if empty. */
  lines: string[]
  /** Byte offset of the next batch, or the end of the range after the last batch. */
  next: number
}

/** Unlike `a`, does not create a file, because a deleted file must not reappear. */
const appendOnly = constants.O_WRONLY | constants.O_APPEND

/** Bytes to read from a log at a time. */
const pieceBytes = 1024 * 1024

/** File mode: conversations are private. */
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
    // Decode in one piece, because reading with an encoding would decode chunk by chunk.
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

/** Makes directory entries durable. */
export async function syncDirectory(path: string): Promise<void> {
  // Windows cannot open directories, but NTFS journals its entries.
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
  /** Incomplete last line. */
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

/** Creates a private file for appending. Rejects with `EEXIST` if it exists. */
export function createPrivate(path: string): Promise<FileHandle> {
  return open(path, 'ax', ownerOnly.file)
}

/** Converts a failed file operation to a `SessionError`, without the path in the system's message. Returns a `SessionError` unchanged. */
export function sessionFailure(error: unknown, what: string): SessionError {
  if (SessionError.isInstance(error)) return error
  const code = systemCode(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    // Included in the message, because an error that ends a run shows only the message.
    return new SessionError('quota', `Cannot ${what}: the disk is full. Delete old sessions or free some space, then retry.`)
  }
  const hint =
    code === 'EMFILE' || code === 'ENFILE'
      ? 'Close writers that are no longer used.'
      : 'Check that the session directory is on a working disk and that this process can read and write it.'
  return new SessionError('io', `Cannot ${what}: ${code ?? 'the file system failed'}.`, { hint })
}

/** Runs `operation`. Converts failures to a `SessionError` that describes `what`. */
export async function reported<T>(what: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (error) {
    throw sessionFailure(error, what)
  }
}

/** Error of a writer that lost ownership. */
export function takenOver(sessionId: string, epoch: number): SessionError {
  return new SessionError(
    'conflict',
    `Another writer (after epoch ${epoch}) took over session ${sessionId}, or the session was deleted. The last write may be lost. Use resumeAgent to continue it.`,
  )
}

/**
 * Creates a directory and its missing parents. The entry in the parent is durable when this resolves, even if another process has just
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
 * that this process cannot open, because they are old and not created by it.
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

/** Permission error of the system, or of Deno, which sets no code for it. */
function isForbidden(error: unknown): boolean {
  const code = systemCode(error)
  return code === 'EACCES' || code === 'EPERM' || (error instanceof Error && error.name === 'NotCapable')
}
