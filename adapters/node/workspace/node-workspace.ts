import { realpathSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ConfigError, type Workspace, WorkspaceError } from '../../../src/index.ts'
import { resolvePath } from '../../../src/tools/index.ts'
import { protectedSegment } from '../protected-names.ts'
import { isDirectory, protectedPath, systemCode, translated } from './fs-errors.ts'
import { listHeld } from './list.ts'
import { holding, type Pinned } from './pin.ts'
import { readHeld, statHeld } from './read.ts'
import { removeAt } from './remove.ts'
import { writeFileAt } from './write.ts'

/**
 * The files under one directory of the host.
 *
 * **Contract** (beside that of `Workspace`)
 * - Links may lead anywhere inside the root, also for writes; a link out of it is refused with `outside`, and so is a write through a
 *   dangling link. Only regular files are read and replaced; FIFOs, devices and files of the kernel reject with `wrongKind`.
 * - On Linux this holds against whoever swaps files and links during the operation: a path is opened first, checked by what the open
 *   descriptor says, and used through that descriptor. On macOS and Windows the real path is checked right before use, so a process that
 *   changes links at that moment may win; keep untrusted programs away from the directory there.
 * - `write` is atomic and durable: temporary file in the same directory, fsync, rename. Other hard links of the old file keep the old
 *   content. Mode and, where the host allows it, owner are kept.
 * - `ifMatch: null` is exact between processes; a version string is exact within this process.
 * - `.git`, `.vscode`, `.mcp.json`, shell start-up files and what a file system takes for them reject writes and removal with code
 *   `protected`, at any depth: other programs on the host obey them.
 * - `list` leaves out what is neither file nor directory, links to directories, and links out of the root.
 *
 * Throws `ConfigError` `invalidOption` when `root` is not a directory. Source: reference/reliability.md §5, 21–31.
 */
export function nodeWorkspace(root: string): Workspace {
  const realRoot = realDirectory(root)

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
    list: (path, { signal } = {}) => held(path, 'list', signal, (pinned, inside) => listHeld(realRoot, pinned, inside, signal)),
    async write(path, data, options = {}) {
      options.signal?.throwIfAborted()
      const inside = changeable(path)
      if (inside === '.') throw isDirectory(inside)
      return translated(inside, 'write', options.signal, () => writeFileAt(realRoot, inside, data, options))
    },
    async remove(path, { signal } = {}) {
      signal?.throwIfAborted()
      const inside = changeable(path)
      if (inside === '.') throw new WorkspaceError('outside', 'The root of the workspace cannot be removed. Remove what is in it.')
      return translated(inside, 'remove', signal, () => removeAt(realRoot, inside, signal))
    },
  }
}

/** The real path of the directory `root`. Throws `ConfigError` `invalidOption` when it is none. */
export function realDirectory(root: string): string {
  try {
    const real = realpathSync(resolve(root))
    if (statSync(real).isDirectory()) return real
  } catch (error) {
    throw new ConfigError(
      'invalidOption',
      `Cannot use ${root} as root: ${systemCode(error) ?? 'it cannot be read'}. Create the directory first.`,
    )
  }
  throw new ConfigError('invalidOption', `Cannot use ${root} as root: it is not a directory.`)
}

function changeable(path: string): string {
  const inside = resolvePath(path)
  const segment = protectedSegment(inside)
  if (segment !== undefined) throw protectedPath(inside, segment)
  return inside
}
