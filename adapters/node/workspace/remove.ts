import { lstat, readdir, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from './fs-errors.ts'
import { holdParent, refuseProtected } from './parent.ts'
import { entryOf, holding, type Pinned } from './pin.ts'

/** Removes `path`; a link is removed itself, never what it leads to. */
export async function removeAt(realRoot: string, path: string, signal?: AbortSignal): Promise<void> {
  const { directory, name } = await holdParent(realRoot, path, false)
  try {
    refuseProtected(realRoot, directory, name, path)
    await removeEntry(realRoot, directory, name, path, signal)
  } finally {
    await directory.close()
  }
}

async function removeEntry(realRoot: string, directory: Pinned, name: string, path: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const entry = entryOf(directory, name)
  if (!(await lstat(entry)).isDirectory()) return unlink(entry)
  await holding(realRoot, entry, path, async (held) => {
    // If the entry became a link meanwhile, `held` is what it leads to (inside the root): leave that alone.
    if (held.real === join(directory.real, name)) await emptyDirectory(realRoot, held, path, signal)
  })
  await rmdir(entry).catch((error: unknown) => {
    if (systemCode(error) === 'ENOTDIR') return unlink(entry)
    throw error
  })
}

async function emptyDirectory(realRoot: string, directory: Pinned, path: string, signal?: AbortSignal): Promise<void> {
  for (const name of await readdir(directory.self)) {
    await removeEntry(realRoot, directory, name, path, signal)
  }
}
