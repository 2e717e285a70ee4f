import { WorkspaceError } from '../../contract/errors.ts'
import { partOfWorkspace } from '../../workspace/part-of-workspace.ts'
import { resolvePath } from '../../workspace/path.ts'
import { fieldError, fieldOf, type Path } from '../config-error.ts'
import type { AgentPlace } from '../config-host.ts'
import { hasVariable } from '../read/env.ts'
import type { Build } from './build.ts'

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
