import { type BigIntStats, constants, existsSync } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { isWithin } from '../policy/programs.ts'
import { notRegular, outside } from './fs-errors.ts'

/**
 * A held file or directory inside the root.
 *
 * On Linux, `self` uses an open descriptor, so it refers to the verified file even if the path changes. On other systems, `self` is the
 * real path at the time of the check.
 */
export interface Pinned {
  /** Real absolute path. */
  readonly real: string
  /** A path for system calls. */
  readonly self: string
  /** Open descriptor, or -1 if there is none. */
  readonly descriptor: number
  stat(): Promise<BigIntStats>
  close(): Promise<void>
}

// Linux: references a path without opening it, so a FIFO cannot block and a device cannot react. Not in `constants`.
const O_PATH = 0o10000000
const hasDescriptorPaths = process.platform === 'linux' && existsSync('/proc/self/fd')

/**
 * Follows links from `target`, holds the result, and verifies that it is inside `realRoot`. Messages use `path`.
 *
 * Rejects with `WorkspaceError` `outside` or `wrongKind`, or with the system's error (`ENOENT`, …).
 */
export async function pin(realRoot: string, target: string, path: string): Promise<Pinned> {
  if (!hasDescriptorPaths) return pinByRealPath(realRoot, target, path)
  const handle = await open(target, O_PATH)
  try {
    const self = `/proc/self/fd/${handle.fd}`
    const real = await readlink(self)
    verify(realRoot, real, path)
    return { real, self, descriptor: handle.fd, stat: () => handle.stat({ bigint: true }), close: () => handle.close() }
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function pinByRealPath(realRoot: string, target: string, path: string): Promise<Pinned> {
  const real = await realpath(target)
  verify(realRoot, real, path)
  return { real, self: real, descriptor: -1, stat: () => lstat(real, { bigint: true }), close: async () => {} }
}

function verify(realRoot: string, real: string, path: string): void {
  if (!isWithin(realRoot, real)) throw outside(path)
  // Kernel files report that they are regular. They are reachable only if the root is `/`.
  if (real.startsWith('/proc/') || real.startsWith('/sys/')) throw notRegular(path)
}

/** Returns the path for system calls of an entry in a held directory. */
export function entryOf(directory: Pinned, name: string): string {
  return join(directory.self, name)
}

/** Returns the path of a held entry relative to the root, with forward slashes. */
export function relativeTo(realRoot: string, pinned: Pinned): string {
  const relative = pinned.real.slice(realRoot.length).split(sep).filter(Boolean).join('/')
  return relative === '' ? '.' : relative
}

/** Opens a held regular file for reading. Rejects with `wrongKind` for others. */
export async function openHeld(pinned: Pinned, path: string): Promise<FileHandle> {
  const before = await pinned.stat()
  if (!before.isFile()) throw notRegular(path)
  // On Linux, the descriptor's path is always a link, and safe. On other systems, the last part must not be a link.
  const noFollow = hasDescriptorPaths ? 0 : (constants.O_NOFOLLOW ?? 0)
  const handle = await open(pinned.self, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | noFollow)
  const after = await handle.stat({ bigint: true })
  if (after.ino === before.ino && after.dev === before.dev) return handle
  await handle.close()
  throw outside(path)
}

/** Holds `target` while `use` runs. */
export async function holding<T>(realRoot: string, target: string, path: string, use: (pinned: Pinned) => Promise<T>): Promise<T> {
  const pinned = await pin(realRoot, target, path)
  try {
    return await use(pinned)
  } finally {
    await pinned.close()
  }
}
