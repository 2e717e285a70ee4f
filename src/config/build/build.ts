import { WorkspaceError } from '../../contract/errors.ts'
import type { Limiter } from '../../providers/compose/limiter.ts'
import type { Workspace } from '../../types/tool/workspace.ts'
import { joinPath, resolvePath } from '../../workspace/workspace-rules.ts'
import { fieldError, fieldOf, type Path } from '../config-error.ts'
import type { AgentPlace, ConfigHost } from '../config-host.ts'
import { hasVariable } from '../read/env.ts'
import type { Entity } from '../references.ts'
import type { AgentConfig } from '../schema/sections.ts'

/** State shared while agents are created. */
export interface Build {
  /** Normalized configuration with variables substituted; may contain secrets. */
  config: AgentConfig
  /** Normalized configuration with `${VARIABLES}` unsubstituted. */
  raw: AgentConfig
  host: ConfigHost
  entities: readonly Entity[]
  /** Instances shared by `%` references. */
  made: Map<string, unknown>
  /** Limiters by section, shared by all agents created from this configuration. */
  limiters: Map<string, Limiter>
  /** Open resources, closed if an agent cannot be created. */
  opened: { close(): unknown }[]
}

/** Returns the instance for `key`, or creates it with `make`. */
export function shared<T>(made: Map<string, unknown>, key: string, make: () => T): T {
  if (!made.has(key)) made.set(key, make())
  return made.get(key) as T // All callers use the same type for a key.
}

/** Prefix of a file path in a prompt. */
const filePrefix = 'file:'

/** Returns whether a path may leave its base directory. A path with a variable may. */
export function isOutside(path: string): boolean {
  if (path.startsWith('~') || hasVariable(path)) return true
  try {
    resolvePath(path)
    return false
  } catch (error) {
    if (WorkspaceError.isInstance(error)) return true
    throw error
  }
}

/** Returns the path of a prompt that refers to a file, or `undefined`. */
export function filePathOf(prompt: string): string | undefined {
  return prompt.startsWith(filePrefix) ? prompt.slice(filePrefix.length).trim() : undefined
}

/** Returns the host's workspace for the path at `field`. */
export async function placeOfAgent({ host, made }: Build, path: string, field: Path): Promise<AgentPlace> {
  const { workspace } = host
  if (workspace === undefined) return { path }
  const key = `workspace ${path}`
  if (!made.has(key)) made.set(key, typeof workspace === 'function' ? workspace(path) : partAt(workspace, path, field))
  return { path, workspace: await (made.get(key) as ReturnType<typeof partAt>) } // Keys of this kind contain only workspaces.
}

function partAt(workspace: NonNullable<AgentPlace['workspace']>, path: string, field: Path): NonNullable<AgentPlace['workspace']> {
  if (!isOutside(path)) return partOfWorkspace(workspace, path)
  const message = `${fieldOf(field)} is ${JSON.stringify(path)}, which is outside the workspace of the host. To allow it, the host must pass workspace as a function.`
  throw fieldError('unsupported', field, message)
}

/** Restricts `workspace` to `directory`. Paths cannot leave it, except through links. */
function partOfWorkspace(workspace: Workspace, directory: string): Workspace {
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
      // Pass the root through, because the workspace itself refuses to remove its root.
      await workspace.remove(resolvePath(path) === '.' ? '.' : within(path), options)
    },
  }
}
