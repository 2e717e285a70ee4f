import { breathe } from '../../base/timer.ts'
import { WorkspaceError } from '../../contract/errors.ts'
import type { Workspace, WorkspaceEntry } from '../../types/tool/workspace.ts'
import { nameOfPath } from '../../workspace/workspace-rules.ts'

/** Directories that searches skip: build output, version control, dependencies. */
const excluded: ReadonlySet<string> = new Set(['target', '.git', 'node_modules'])

const entriesPerBreath = 500
// Milliseconds between yields to timers, including time spent in the consumer.
const breathEvery = 20

/** Options for `walkFiles`. */
export interface WalkOptions {
  workspace: Workspace
  /** Start directory. */
  path: string
  /** Maximum directory depth. 1 is the start directory itself. */
  maxDepth: number
  signal: AbortSignal
}

/**
 * Yields the files below a directory, depth first, each directory sorted by path.
 *
 * **Contract**
 * - Skips `target`, `.git` and `node_modules`, unless the walk starts there.
 * - Skips a subdirectory that was deleted or cannot be read. Rejects if the start directory cannot be read.
 * - After an abort, promptly rejects with the reason of `signal`. Yields to timers every 20 ms, even if the consumer is slow.
 */
export async function* walkFiles({ workspace, path, maxDepth, signal }: WalkOptions): AsyncGenerator<string, void, undefined> {
  let seen = 0
  let breathed = performance.now()
  const stack: { entries: WorkspaceEntry[]; next: number }[] = [{ entries: await workspace.list(path, { signal }), next: 0 }]
  for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
    const entry = level.entries[level.next++]
    if (entry === undefined) {
      stack.pop()
      continue
    }
    if (++seen % entriesPerBreath === 0 || performance.now() - breathed > breathEvery) {
      await breathe(signal)
      breathed = performance.now()
    }
    signal.throwIfAborted()
    if (entry.kind === 'file') yield entry.path
    else if (stack.length < maxDepth && !excluded.has(nameOfPath(entry.path))) {
      stack.push({ entries: await listOrSkip(workspace, entry.path, signal), next: 0 })
    }
  }
}

/** Returns the path of a file below `directory`, relative to that directory. */
export function relativeTo(directory: string, path: string): string {
  return directory === '.' ? path : path.slice(directory.length + 1)
}

async function listOrSkip(workspace: Workspace, path: string, signal: AbortSignal): Promise<WorkspaceEntry[]> {
  try {
    return await workspace.list(path, { signal })
  } catch (error) {
    if (error instanceof WorkspaceError) return []
    throw error
  }
}
