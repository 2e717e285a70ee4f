import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aText, options as optionsOf } from '../../../src/contract/shape/shape.ts'
import { resolvePath, type Workspace, type WorkspaceEntry, WorkspaceError } from '../../../src/tools.ts'
import {
  type ProtectionOptions,
  protectedPart,
  protectionTable,
  type WorkspacePolicy,
  workspacePolicy,
} from '../policy/workspace-policy.ts'
import { isDirectory, protectedPath, systemCode, translated } from './fs-errors.ts'
import { entryOf, holding, type Pinned } from './pin.ts'
import { readHeld, statHeld } from './read.ts'
import { removeAt } from './remove.ts'
import { writeFileAt } from './write.ts'

/** Options for a directory listing. */
type ListOptions = NonNullable<Parameters<Workspace['list']>[1]>

/**
 * Returns the children of a held directory, sorted by path. A link counts as its target. Links that `kindOfLink` does not know are omitted.
 */
async function listHeld(realRoot: string, directory: Pinned, path: string, options: ListOptions): Promise<WorkspaceEntry[]> {
  const { signal, linkedDirectories = false } = options
  const entries: WorkspaceEntry[] = []
  for (const child of await readdir(directory.self, { withFileTypes: true })) {
    signal?.throwIfAborted()
    const childPath = path === '.' ? child.name : `${path}/${child.name}`
    if (child.isDirectory()) entries.push({ path: childPath, kind: 'directory' })
    else if (child.isFile()) entries.push({ path: childPath, kind: 'file' })
    else if (child.isSymbolicLink()) {
      const kind = await kindOfLink(realRoot, entryOf(directory, child.name), child.name)
      if (kind === 'file' || (kind === 'directory' && linkedDirectories)) entries.push({ path: childPath, kind })
    }
  }
  return entries.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/**
 * Returns the kind of a link: a file inside the root, or a directory anywhere. A directory outside is listed, but its content is unusable.
 */
async function kindOfLink(realRoot: string, target: string, name: string): Promise<WorkspaceEntry['kind'] | undefined> {
  try {
    const stats = await holding(realRoot, target, name, (held) => held.stat())
    if (stats.isDirectory()) return 'directory'
    return stats.isFile() ? 'file' : undefined
  } catch (error) {
    if (error instanceof WorkspaceError && error.code === 'outside') return (await isDirectoryAt(target)) ? 'directory' : undefined
    if (systemCode(error) !== undefined) return undefined
    throw error
  }
}

async function isDirectoryAt(target: string): Promise<boolean> {
  try {
    return (await stat(target)).isDirectory()
  } catch (error) {
    if (systemCode(error) !== undefined) return false
    throw error
  }
}

const protectionOptions = optionsOf<ProtectionOptions>(protectionTable)

/**
 * Creates a workspace from one directory of the host.
 *
 * **Contract** (in addition to `Workspace`)
 * - Links may point anywhere inside the root, even for writes. A link that leaves the root is rejected with `outside`, as is a write
 *   through a dangling link. Only regular files are read and replaced. FIFOs, devices and kernel files reject with `wrongKind`.
 * - On Linux, this also applies if files and links are swapped during the operation, because a path is verified and used through its open
 *   descriptor. On macOS and Windows, the real path is verified directly before use, so a process that changes links at this moment can
 *   bypass the check. Keep untrusted programs away from the directory on these systems.
 * - `write` is atomic and durable: temporary file in the same directory, fsync, rename. Other hard links to the old file keep the old
 *   content. Preserves the mode and, if the host allows it, the owner.
 * - `ifMatch: null` is exact between processes. A version string is exact within this process.
 * - Files that control other programs reject writes and removal with code `protected`, at any depth. Examples are `.git`, `.vscode`,
 *   `.npmrc`, shell start-up files, and parts of a git directory such as `HEAD`. Names that a file system treats as equal are also
 *   protected. This package, its dependencies and their lock file are protected if they are inside. `unprotected` allows names.
 * - `list` omits entries that are neither file nor directory, links to directories (by default), and links to files outside the root.
 *
 * Throws `ConfigError` `invalidOption` if `root` is not a directory. Without `allowSystemRoot`, also rejects `/`, the home directory,
 * `/etc` and other system directories. Source: docs/guides/files-and-bash.md
 */
export function nodeWorkspace(root: string, options: ProtectionOptions = {}): Workspace {
  checkOptions(root, aText, 'root')
  checkOptions(options, protectionOptions)
  const policy = workspacePolicy(root, options)
  const realRoot = policy.root

  const held = async <T>(
    path: string,
    verb: string,
    signal: AbortSignal | undefined,
    use: (pinned: Pinned, path: string) => Promise<T>,
  ) => {
    signal?.throwIfAborted()
    const inside = resolvePath(path)
    return translated(inside, verb, signal, () =>
      holding(realRoot, join(realRoot, inside), inside, (pinned) => {
        signal?.throwIfAborted()
        return use(pinned, inside)
      }),
    )
  }

  return {
    root: realRoot,
    read: (path, { start = 0, end = Number.POSITIVE_INFINITY, signal } = {}) =>
      held(path, 'read', signal, (pinned, inside) => readHeld(pinned, inside, start, end, signal)),
    stat: (path, { signal } = {}) => held(path, 'stat', signal, statHeld),
    list: (path, options = {}) => held(path, 'list', options.signal, (pinned, inside) => listHeld(realRoot, pinned, inside, options)),
    async write(path, data, options = {}) {
      options.signal?.throwIfAborted()
      const inside = changeable(policy, path)
      if (inside === '.') throw isDirectory(inside)
      return translated(inside, 'write', options.signal, () => writeFileAt(policy, inside, data, options))
    },
    async remove(path, { signal } = {}) {
      signal?.throwIfAborted()
      const inside = changeable(policy, path)
      if (inside === '.') throw new WorkspaceError('outside', 'Cannot remove the workspace root. Remove its contents instead.')
      return translated(inside, 'remove', signal, () => removeAt(policy, inside, signal))
    },
  }
}

function changeable(policy: WorkspacePolicy, path: string): string {
  const inside = resolvePath(path)
  const segment = protectedPart(policy, inside)
  if (segment !== undefined) throw protectedPath(inside, segment)
  return inside
}
