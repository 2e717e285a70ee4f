import type { BigIntStats } from 'node:fs'
import type { WorkspaceStat } from '../../../src/tools.ts'
import { isDirectory, notRegular } from './fs-errors.ts'
import { openHeld, type Pinned } from './pin.ts'

/** Bytes per read or write call. Aborts are detected between calls. */
export const chunkBytes = 4 * 1024 * 1024

/** Returns the workspace entry of a held path. Throws `wrongKind` if it is neither a file nor a directory. */
export async function statHeld(pinned: Pinned, path: string): Promise<WorkspaceStat> {
  const stats = await pinned.stat()
  if (stats.isDirectory()) return { kind: 'directory', size: 0, version: versionOf(stats) }
  if (!stats.isFile()) throw notRegular(path)
  return { kind: 'file', size: Number(stats.size), version: versionOf(stats) }
}

/** Returns a version that changes when a file is replaced or written in place (within the clock resolution of the file system). */
export function versionOf(stats: BigIntStats): string {
  return `${stats.mtimeNs.toString(36)}-${stats.size.toString(36)}-${stats.ino.toString(36)}`
}

/** Reads a range of a held file, using only as much memory as the range. */
export async function readHeld(pinned: Pinned, path: string, start: number, end: number, signal?: AbortSignal): Promise<Uint8Array> {
  const stats = await pinned.stat()
  if (stats.isDirectory()) throw isDirectory(path)
  const handle = await openHeld(pinned, path)
  try {
    const length = Math.max(0, Math.min(end, Number(stats.size)) - Math.max(0, start))
    const bytes = new Uint8Array(length)
    let filled = 0
    while (filled < length) {
      signal?.throwIfAborted()
      const { bytesRead } = await handle.read(bytes, filled, Math.min(chunkBytes, length - filled), Math.max(0, start) + filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return filled === length ? bytes : bytes.slice(0, filled)
  } finally {
    await handle.close()
  }
}
