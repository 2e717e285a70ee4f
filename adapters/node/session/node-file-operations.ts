import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import type { FileOperations } from './file-operations.ts'

/** Unlike `a`, it does not create: a file that was deleted must not come back. */
const appendOnly = constants.O_WRONLY | constants.O_APPEND

/** Conversations are nobody else's business. */
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
    async createExclusive(path) {
      held.set(path, await createPrivate(path))
    },
    async append(path, text) {
      const handle = held.get(path)
      if (handle === undefined) await using(path, appendOnly, (opened) => opened.appendFile(text))
      else await handle.appendFile(text)
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

async function readPart(path: string, { from = 0, bytes }: { from?: number; bytes?: number }): Promise<string> {
  return using(path, 'r', async (handle) => {
    const length = bytes ?? Math.max((await handle.stat()).size - from, 0)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from)
    return buffer.toString('utf8', 0, bytesRead)
  })
}

/** Creates a file that only its owner may read, to append to; fails with `EEXIST` where there is one. */
export function createPrivate(path: string): Promise<FileHandle> {
  return open(path, 'ax', ownerOnly.file)
}
