import { lstat, readdir, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { WorkspacePolicy } from '../policy/workspace-policy.ts'
import { systemCode } from './fs-errors.ts'
import { holdParent, refuseProtected } from './parent.ts'
import { entryOf, holding, type Pinned } from './pin.ts'

/** Removes `path`. For a link, removes the link and never its target. Removes nothing if any content is protected. */
export async function removeAt(policy: WorkspacePolicy, path: string, signal?: AbortSignal): Promise<void> {
  const { directory, name } = await holdParent(policy, path, false)
  try {
    await checkEntry(policy, directory, name, path, signal)
    await removeEntry(policy, directory, name, path, signal)
  } finally {
    await directory.close()
  }
}

async function checkEntry(policy: WorkspacePolicy, directory: Pinned, name: string, path: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const entry = entryOf(directory, name)
  const isDirectory = (await lstat(entry)).isDirectory()
  refuseProtected(policy, directory, name, path, isDirectory ? 'directory' : 'file')
  if (!isDirectory) return
  await holding(policy.root, entry, path, async (held) => {
    for (const child of await readdir(held.self)) await checkEntry(policy, held, child, path, signal)
  })
}

async function removeEntry(policy: WorkspacePolicy, directory: Pinned, name: string, path: string, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const entry = entryOf(directory, name)
  // Checked again, because protected content may have been created in the meantime.
  refuseProtected(policy, directory, name, path, 'directory')
  if (!(await lstat(entry)).isDirectory()) return unlink(entry)
  await holding(policy.root, entry, path, async (held) => {
    // If the entry became a link in the meantime, `held` is its target (inside the root), which must stay.
    if (held.real === join(directory.real, name)) await emptyDirectory(policy, held, path, signal)
  })
  await rmdir(entry).catch((error: unknown) => {
    if (systemCode(error) === 'ENOTDIR') return unlink(entry)
    throw error
  })
}

async function emptyDirectory(policy: WorkspacePolicy, directory: Pinned, path: string, signal?: AbortSignal): Promise<void> {
  for (const name of await readdir(directory.self)) {
    await removeEntry(policy, directory, name, path, signal)
  }
}
