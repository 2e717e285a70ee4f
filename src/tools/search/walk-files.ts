import { breathe } from '../../base/timer.ts'
import { WorkspaceError } from '../../contract/errors.ts'
import type { Workspace, WorkspaceEntry } from '../../types/tool/workspace.ts'
import { nameOfPath } from '../../workspace/workspace-rules.ts'

/** Directories nobody means when they ask for "the files": build output, history, dependencies. */
const excluded: ReadonlySet<string> = new Set(['target', '.git', 'node_modules'])

const entriesPerBreath = 500
// Milliseconds: what the reader of the walk does with an entry counts, too.
const breathEvery = 20

/** Where and how far `walkFiles` goes. */
export interface WalkOptions {
  workspace: Workspace
  /** Directory to start in. */
  path: string
  /** Levels of directories; 1 is the directory itself. */
  maxDepth: number
  signal: AbortSignal
}

/**
 * The files below a directory, depth first, each directory sorted by path.
 *
 * **Contract**
 * - `target`, `.git` and `node_modules` are not entered, unless one of them is the start.
 * - A directory below the start that vanished or cannot be read is skipped; the start itself rejects.
 * - Rejects with the reason of `signal` soon after it aborts. Timers get a turn every 20 ms, also when the reader takes its time.
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

/** What remains of `path`, a file below `directory`, seen from there. */
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
