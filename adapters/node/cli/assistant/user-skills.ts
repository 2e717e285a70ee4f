import { realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, relative, sep } from 'node:path'
import type { AgentTool } from '../../../../src/index.ts'
import {
  listFilesTool,
  loadSkills,
  readFileTool,
  resolvePath,
  type SkillSet,
  type Workspace,
  WorkspaceError,
} from '../../../../src/tools.ts'
import { nodeWorkspace } from '../../index.ts'
import type { Project } from './project.ts'

/** Tools that can read the user's skills, with notes. */
export interface Skilled {
  tools: AgentTool[]
  skills?: SkillSet
  notes: string[]
}

/**
 * Adds the user's skills for all projects. They are outside the workspace, so no tool or repository can add one. Reading tools can open the
 * skills by their path in the skill index. No tool can change them.
 */
export async function withUserSkills({ root, skills: directory }: Project, tools: AgentTool[]): Promise<Skilled> {
  if (!isDirectory(directory) || !tools.some(({ name }) => name === 'read_file')) return { tools, notes: [] }
  if (!leadsOut(relative(root, realpathSync(directory)))) {
    return { tools, notes: [`The skills in ${directory} are ignored here, because tools may change this directory.`] }
  }
  const place = placeOf(directory)
  const workspace = new Mounted(nodeWorkspace(root), place, nodeWorkspace(directory))
  const skills = await loadSkills(workspace, [place])
  const reading = new Map([readFileTool({ workspace }), listFilesTool({ workspace })].map((tool) => [tool.name, tool]))
  const failed = skills.errors.length
  return {
    tools: tools.map((tool) => reading.get(tool.name) ?? tool),
    skills,
    notes: failed === 0 ? [] : [`${failed} of your skills could not be loaded. /skills shows why.`],
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function leadsOut(path: string): boolean {
  return path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)
}

/** Shortens a path in the home directory to `~`. */
function placeOf(directory: string): string {
  const inHome = relative(homedir(), directory)
  return leadsOut(inHome) ? '~phi/skills' : `~/${inHome.split(sep).join('/')}`
}

/** A workspace with a second workspace mounted read-only at `place`. */
class Mounted implements Workspace {
  readonly root: string
  readonly #base: Workspace
  readonly #place: string
  readonly #inner: Workspace

  constructor(base: Workspace, place: string, inner: Workspace) {
    this.root = base.root
    this.#base = base
    this.#place = place
    this.#inner = inner
  }

  async read(path: string, options?: Parameters<Workspace['read']>[1]): ReturnType<Workspace['read']> {
    const inner = this.#within(path)
    return inner === undefined ? this.#base.read(path, options) : this.#inner.read(inner, options)
  }

  async stat(path: string, options?: Parameters<Workspace['stat']>[1]): ReturnType<Workspace['stat']> {
    const inner = this.#within(path)
    return inner === undefined ? this.#base.stat(path, options) : this.#inner.stat(inner, options)
  }

  async list(path: string, options?: Parameters<Workspace['list']>[1]): ReturnType<Workspace['list']> {
    const inner = this.#within(path)
    if (inner === undefined) return this.#base.list(path, options)
    const entries = await this.#inner.list(inner, options)
    return entries.map((entry) => ({ ...entry, path: `${this.#place}/${entry.path}` }))
  }

  async write(path: string, data: Uint8Array, options?: Parameters<Workspace['write']>[2]): ReturnType<Workspace['write']> {
    this.#refuse(path)
    return this.#base.write(path, data, options)
  }

  async remove(path: string, options?: Parameters<Workspace['remove']>[1]): ReturnType<Workspace['remove']> {
    this.#refuse(path)
    return this.#base.remove(path, options)
  }

  #within(path: string): string | undefined {
    const whole = resolvePath(path)
    if (whole === this.#place) return '.'
    return whole.startsWith(`${this.#place}/`) ? whole.slice(this.#place.length + 1) : undefined
  }

  #refuse(path: string): void {
    if (this.#within(path) !== undefined) throw new WorkspaceError('protected', `${path} is a user skill, which is read-only.`)
  }
}
