import { readdir } from 'node:fs/promises'
import type { WorkspaceEntry } from '../../../src/tools/index.ts'
import { systemCode } from './fs-errors.ts'
import { entryOf, holding, type Pinned } from './pin.ts'

/** Children of a held directory, sorted by path. A link counts as the file it leads to, and is left out when it leads anywhere else. */
export async function listHeld(realRoot: string, directory: Pinned, path: string, signal?: AbortSignal): Promise<WorkspaceEntry[]> {
  const entries: WorkspaceEntry[] = []
  for (const child of await readdir(directory.self, { withFileTypes: true })) {
    signal?.throwIfAborted()
    const childPath = path === '.' ? child.name : `${path}/${child.name}`
    if (child.isDirectory()) entries.push({ path: childPath, kind: 'directory' })
    else if (child.isFile() || (child.isSymbolicLink() && (await leadsToFile(realRoot, directory, child.name)))) {
      entries.push({ path: childPath, kind: 'file' })
    }
  }
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1))
}

// Linked directories are left out too: whoever walks a tree would otherwise never come to its end.
async function leadsToFile(realRoot: string, directory: Pinned, name: string): Promise<boolean> {
  try {
    return await holding(realRoot, entryOf(directory, name), name, async (target) => (await target.stat()).isFile())
  } catch (error) {
    if (systemCode(error) !== undefined) return false
    throw error
  }
}
