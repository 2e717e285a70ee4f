import type { Workspace } from '../types/tool/workspace.ts'
import { joinPath, resolvePath } from './path.ts'

/** The directory `directory` of `workspace` as a workspace of its own: no path in it leads out of that directory, but for links. */
export function partOfWorkspace(workspace: Workspace, directory: string): Workspace {
  const base = resolvePath(directory)
  if (base === '.') return workspace
  const within = (path: string): string => {
    const inside = resolvePath(path)
    return inside === '.' ? base : joinPath(base, inside)
  }
  return {
    root: `${workspace.root}/${base}`,
    read: async (path, options) => workspace.read(within(path), options),
    write: async (path, data, options) => workspace.write(within(path), data, options),
    stat: async (path, options) => workspace.stat(within(path), options),
    list: async (path, options) => {
      const entries = await workspace.list(within(path), options)
      return entries.map((entry) => ({ ...entry, path: entry.path.slice(base.length + 1) }))
    },
    remove: async (path, options) => {
      // The workspace itself says that a root cannot be removed.
      await workspace.remove(resolvePath(path) === '.' ? '.' : within(path), options)
    },
  }
}
