import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import type { FileOperations } from './file-operations.ts'

/** Unlike `a`, it does not create: a file that was deleted must not come back. */
const appendOnly = constants.O_WRONLY | constants.O_APPEND

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
    makeDirectory: (path) => mkdir(path),
    // In one piece: with an encoding it would be decoded chunk by chunk.
    read: async (path, bytes) => (bytes === undefined ? (await readFile(path)).toString() : readStart(path, bytes)),
    async createExclusive(path) {
      held.set(path, await open(path, 'ax'))
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
    async modified(path) {
      return (await stat(path)).mtimeMs
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

function readStart(path: string, bytes: number): Promise<string> {
  return using(path, 'r', async (handle) => {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0)
    return buffer.toString('utf8', 0, bytesRead)
  })
}
