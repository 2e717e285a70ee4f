import { type BigIntStats, constants, lstatSync, renameSync } from 'node:fs'
import { type FileHandle, link, lstat, open, unlink } from 'node:fs/promises'
import type { WorkspaceStat } from '../../../src/tools.ts'
import type { WorkspacePolicy } from '../policy/workspace-policy.ts'
import { conflict, isDirectory, notRegular, outside, systemCode } from './fs-errors.ts'
import { holdParent, refuseProtected } from './parent.ts'
import { entryOf, holding, type Pinned, relativeTo } from './pin.ts'
import { chunkBytes, versionOf } from './read.ts'

export interface WriteOptions {
  ifMatch?: string | null
  signal?: AbortSignal
}

/**
 * Replaces `path` with a new file that contains `data`: temporary file next to it, fsync, rename. Readers see either the old or the new
 * content, and other hard links to the old file, possibly outside the root, keep the old content.
 */
export async function writeFileAt(policy: WorkspacePolicy, path: string, data: Uint8Array, options: WriteOptions): Promise<WorkspaceStat> {
  const place = await behindLink(policy, path, typeof options.ifMatch !== 'string').catch((error: unknown) => {
    // A version belongs to an existing file, so its directory exists.
    throw typeof options.ifMatch === 'string' && systemCode(error) === 'ENOENT' ? conflict(path, 'no longer exists') : error
  })
  return replaceAt(policy, path, place, data, options)
}

// Returns the path to write: `path` itself, or its target.
async function behindLink(policy: WorkspacePolicy, path: string, create: boolean): Promise<string> {
  const { directory, name } = await holdParent(policy, path, create)
  try {
    refuseProtected(policy, directory, name, path)
    const current = await statEntry(directory, name)
    if (current?.isSymbolicLink() !== true) return path
    return await holding(policy.root, entryOf(directory, name), path, async (target) => relativeTo(policy.root, target))
  } catch (error) {
    // The entry existed a moment ago, so its link target is missing.
    throw systemCode(error) === 'ENOENT' ? outside(path) : error
  } finally {
    await directory.close()
  }
}

async function replaceAt(
  policy: WorkspacePolicy,
  path: string,
  place: string,
  data: Uint8Array,
  options: WriteOptions,
): Promise<WorkspaceStat> {
  const { directory, name } = await holdParent(policy, place, false)
  try {
    refuseProtected(policy, directory, name, path)
    const current = await statEntry(directory, name)
    checkReplaceable(path, current, options.ifMatch)
    const temporary = entryOf(directory, `.phi-${crypto.randomUUID()}.tmp`)
    try {
      const fresh = await writeTemporary(temporary, data, current, options.signal)
      await putInPlace(temporary, entryOf(directory, name), path, options.ifMatch)
      return { kind: 'file', size: data.byteLength, version: versionOf(fresh) }
    } catch (error) {
      await unlink(temporary).catch(() => {})
      throw error
    }
  } finally {
    await directory.close()
  }
}

async function statEntry(directory: Pinned, name: string): Promise<BigIntStats | undefined> {
  return lstat(entryOf(directory, name), { bigint: true }).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  })
}

function checkReplaceable(path: string, current: BigIntStats | undefined, ifMatch: string | null | undefined): void {
  if (current?.isSymbolicLink()) throw outside(path)
  if (current?.isDirectory()) throw isDirectory(path)
  if (current !== undefined && !current.isFile()) throw notRegular(path)
  if (ifMatch === null && current !== undefined) throw conflict(path, 'exists already')
  if (typeof ifMatch === 'string' && (current === undefined || versionOf(current) !== ifMatch))
    throw conflict(path, 'has changed meanwhile')
}

async function writeTemporary(
  temporary: string,
  data: Uint8Array,
  current: BigIntStats | undefined,
  signal: AbortSignal | undefined,
): Promise<BigIntStats> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)
  const handle = await open(temporary, flags, 0o666)
  try {
    for (let written = 0; written < data.byteLength; ) {
      signal?.throwIfAborted()
      written += (await handle.write(data, written, Math.min(chunkBytes, data.byteLength - written))).bytesWritten
    }
    if (current !== undefined) await takeAfter(handle, current)
    await handle.sync()
    signal?.throwIfAborted()
    return await handle.stat({ bigint: true })
  } finally {
    await handle.close()
  }
}

/** Copies the replaced file's mode and owner. Sets a later time, so that its version differs from earlier ones. */
async function takeAfter(handle: FileHandle, current: BigIntStats): Promise<void> {
  await handle.chmod(Number(current.mode & 0o777n))
  const fresh = await handle.stat({ bigint: true })
  if (fresh.uid !== current.uid || fresh.gid !== current.gid) {
    // Only root may change the owner. Otherwise, the new file belongs to this user.
    await handle.chown(Number(current.uid), Number(current.gid)).catch(() => {})
  }
  if (fresh.mtimeNs <= current.mtimeNs) {
    const later = Number(current.mtimeNs / 1_000_000n + 1n) / 1000
    await handle.utimes(later, later)
  }
}

async function putInPlace(temporary: string, target: string, path: string, ifMatch: string | null | undefined): Promise<void> {
  if (ifMatch === null && (await linkedInPlace(temporary, target, path))) return unlink(temporary)
  // Check and rename without yielding, so that no other code in this process runs in between.
  const current = lstatSync(target, { bigint: true, throwIfNoEntry: false })
  checkReplaceable(path, current, ifMatch)
  renameSync(temporary, target)
}

/** A hard link cannot replace a file, so exactly one of several creators succeeds. Returns false if the file system has no hard links. */
async function linkedInPlace(temporary: string, target: string, path: string): Promise<boolean> {
  try {
    await link(temporary, target)
    return true
  } catch (error) {
    if (systemCode(error) === 'EEXIST') throw conflict(path, 'exists already')
    return false
  }
}
