import { WorkspaceError } from '../../contract/errors.ts'
import type { Limiter } from '../../providers/compose/limiter.ts'
import type { Workspace } from '../../types/tool/workspace.ts'
import { joinPath, resolvePath } from '../../workspace/workspace-rules.ts'
import { fieldError, fieldOf, type Path } from '../config-error.ts'
import type { AgentPlace, ConfigHost } from '../config-host.ts'
import { hasVariable } from '../read/env.ts'
import type { Entity } from '../references.ts'
import type { AgentConfig } from '../schema/sections.ts'

/** What the making of agents shares. */
export interface Build {
  /** In its one form, with the values of variables: it may hold secrets. */
  config: AgentConfig
  /** The same with `${VARIABLES}` as they were written. */
  raw: AgentConfig
  host: ConfigHost
  entities: readonly Entity[]
  /** What `%` shares, by what it is. */
  made: Map<string, unknown>
  /** By the section that asks for one: shared by all agents that are made of this configuration, at whatever time. */
  limiters: Map<string, Limiter>
  /** What was opened so far, to be closed where an agent cannot be made. */
  opened: { close(): unknown }[]
}

/** What was made for `key` before, or what `make` makes now. */
export function shared<T>(made: Map<string, unknown>, key: string, make: () => T): T {
  if (!made.has(key)) made.set(key, make())
  return made.get(key) as T // whoever uses a key always makes the same kind of thing for it
}

/** What stands before the path of a file in a prompt. */
const filePrefix = 'file:'

/** Whether a path of the file may lead out of what it is relative to. One that the environment completes may. */
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

/** The path that a prompt names, if it is one. */
export function filePathOf(prompt: string): string | undefined {
  return prompt.startsWith(filePrefix) ? prompt.slice(filePrefix.length).trim() : undefined
}

/** Where an agent works: what the host gives for the path of the file, which stands at `field`. */
export async function placeOfAgent({ host, made }: Build, path: string, field: Path): Promise<AgentPlace> {
  const { workspace } = host
  if (workspace === undefined) return { path }
  const key = `workspace ${path}`
  if (!made.has(key)) made.set(key, typeof workspace === 'function' ? workspace(path) : partAt(workspace, path, field))
  return { path, workspace: await (made.get(key) as ReturnType<typeof partAt>) } // nothing else is kept under such a key
}

function partAt(workspace: NonNullable<AgentPlace['workspace']>, path: string, field: Path): NonNullable<AgentPlace['workspace']> {
  if (!isOutside(path)) return partOfWorkspace(workspace, path)
  const message = `${fieldOf(field)} is ${JSON.stringify(path)}, which is not within the workspace of the host. A host that can reach it gives workspace as a function.`
  throw fieldError('unsupported', field, message)
}

/** The directory `directory` of `workspace` as a workspace of its own: no path in it leads out of that directory, but for links. */
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
      // The workspace itself says that a root cannot be removed.
      await workspace.remove(resolvePath(path) === '.' ? '.' : within(path), options)
    },
  }
}
