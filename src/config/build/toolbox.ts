import { someTools } from '../../base/argument-checks.ts'
import { logWarning } from '../../base/log-warning.ts'
import { ConfigError, errorText } from '../../contract/errors.ts'
import { nearest } from '../../contract/shape/nearest-name.ts'
import { checkOptions } from '../../contract/shape/read.ts'
import { listOf } from '../../contract/shape/shape.ts'
import { aTool } from '../../loop/check-config.ts'
import { loadSkills } from '../../skills/load-skills.ts'
import { editFileTool } from '../../tools/files/edit-file.ts'
import { listFilesTool } from '../../tools/files/list-files.ts'
import { readFileTool } from '../../tools/files/read-file.ts'
import { writeFileTool } from '../../tools/files/write-file.ts'
import { prunTools } from '../../tools/prun-tools.ts'
import { revertTool } from '../../tools/revert-tool.ts'
import { searchTool } from '../../tools/search/search.ts'
import type { SkillSet } from '../../types/tool/skills.ts'
import type { AgentTool } from '../../types/tool/tool.ts'
import { fieldError, fieldOf, invalidField, needs, type Path } from '../config-error.ts'
import type { AgentPlace } from '../config-host.ts'
import { type Build, isOutside, shared } from './build.ts'

/** Alternative names of built-in tools. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['file_read', 'read_file'],
  ['file_write', 'write_file'],
  ['file_edit', 'edit_file'],
  ['file_list', 'list_files'],
  ['list_dir', 'list_files'],
  ['file_search', 'search'],
  ['grep', 'search'],
  ['shell', 'bash'],
])

/** Names that map to several tools, or to a tool with a different name. */
const sets: ReadonlyMap<string, () => AgentTool[]> = new Map([
  ['prun', prunTools],
  ['revert', () => [revertTool()]],
  ['revert_to_state', () => [revertTool()]],
])

/** Tool names, and their path in the file. */
export interface ToolWish {
  names: readonly string[]
  path: Path
}

/** Tools of a workspace, by name. */
export type Toolbox = ReadonlyMap<string, AgentTool>

/** Returns the host's tools for a workspace, created for all names in `wishes`. */
export async function toolboxAt({ host }: Build, place: AgentPlace, wishes: readonly ToolWish[]): Promise<Toolbox> {
  const names = [...new Set(wishes.flatMap((wish) => wish.names.map(ownName)))]
  const { tools } = host
  const given = tools === undefined ? portableTools(place) : typeof tools === 'function' ? await tools({ ...place, names }) : tools
  checkOptions(given, someTools, 'tools')
  const list = [...given]
  checkOptions(list, listOf(aTool), 'tools', 'invalidTool')
  return new Map(list.map((tool) => [tool.name, tool]))
}

function portableTools({ workspace }: AgentPlace): AgentTool[] {
  if (workspace === undefined) return []
  const options = { workspace }
  return [readFileTool(options), writeFileTool(options), editFileTool(options), listFilesTool(options), searchTool(options)]
}

function ownName(name: string): string {
  return aliases.get(name) ?? name
}

/**
 * Returns each named tool once, except those that `isElsewhere` matches. For an unknown name, throws `ConfigError` `invalidTool`, which
 * lists the known names.
 */
export function chosenTools(box: Toolbox, { names, path }: ToolWish, isElsewhere: (name: string) => boolean = () => false): AgentTool[] {
  const chosen = new Map<string, AgentTool>()
  for (const [at, name] of names.entries()) {
    if (isElsewhere(name)) continue
    for (const tool of toolsOf(box, name, [...path, at])) if (!chosen.has(tool.name)) chosen.set(tool.name, tool)
  }
  return [...chosen.values()]
}

/** Returns the tools that a name maps to. Throws `ConfigError` `invalidTool` for an unknown name. */
export function toolsOf(box: Toolbox, name: string, path: Path): AgentTool[] {
  const found = box.get(name) ?? box.get(ownName(name))
  const tools = found === undefined ? sets.get(name)?.() : [found]
  if (tools === undefined) throw unknownTool(box, name, path)
  return tools
}

function unknownTool(box: Toolbox, name: string, path: Path): ConfigError {
  const known = [...box.keys(), ...sets.keys()]
  const message = `${fieldOf(path)} is ${JSON.stringify(name.slice(0, 60))}, a tool that the host does not provide. ${nearest(name, known)} All: ${known.join(', ')}.`
  return fieldError('invalidTool', path, message)
}

/** Returns the skills for the agents of a workspace, including the host's: all skills, or those in `names`. */
export async function skillsAt(
  build: Build,
  place: AgentPlace,
  names: { value: readonly string[]; path: Path } | undefined,
): Promise<SkillSet | undefined> {
  const all = await shared(build.made, `skills ${place.path}`, () => allSkills(build, place))
  if (names === undefined) return all
  if (all === undefined) throw needs(names.path, 'names skills', 'skills, or [skills] their paths')
  try {
    return all.select(names.value)
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error
    throw fieldError('invalidField', names.path, `${fieldOf(names.path)}: ${errorText(error)}`)
  }
}

async function allSkills({ config, host }: Build, { workspace }: AgentPlace): Promise<SkillSet | undefined> {
  const { paths = [] } = config.skills ?? {}
  if (paths.length === 0) return host.skills
  if (workspace === undefined) throw needs(['skills', 'paths'], 'names directories', 'a workspace')
  const outside = paths.findIndex(isOutside)
  if (outside >= 0) {
    throw invalidField(['skills', 'paths', outside], paths[outside], 'a directory within the workspace', 'The host can pass other skills.')
  }
  const loaded = await loadSkills(workspace, paths)
  for (const { code, path, message } of [...loaded.errors, ...loaded.warnings])
    logWarning(host.logger, 'skillProblem', { code, path, message })
  return host.skills === undefined ? loaded : loaded.merge(host.skills)
}
