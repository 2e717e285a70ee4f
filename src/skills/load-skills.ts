import { aWorkspace } from '../base/argument-checks.ts'
import { escapeControls } from '../base/text/characters.ts'
import { breathe } from '../base/timer.ts'
import { errorText, WorkspaceError } from '../contract/errors.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aSignal, aText, listOf, options as optionsOf, wholeFrom } from '../contract/shape/shape.ts'
import type { Skill, SkillProblem, SkillSet } from '../types/tool/skills.ts'
import type { Workspace } from '../types/tool/workspace.ts'
import { joinPath, nameOfPath, resolvePath } from '../workspace/workspace-rules.ts'
import { maxFrontmatter, SkillError } from './frontmatter.ts'
import { folderFault, parseSkill } from './parse-skill.ts'
import { skillSet } from './skill-set.ts'

/** Options for `loadSkills`: the limit and the signal. */
export interface LoadSkillsOptions {
  /** Maximum skills per directory, in path order. More are an error. Default: 1,000. */
  maxSkills?: number
  /** Stops loading. The caller owns it. */
  signal?: AbortSignal
}

/** Skills and errors of a directory or a file. */
interface Found {
  skills: readonly Skill[]
  warnings: readonly SkillProblem[]
  errors: readonly SkillProblem[]
}

/** The beginning of a file. */
interface SkillFile {
  folder: string
  location: string
  text: string
}

/** Workspace and signal for reads. */
interface Place {
  workspace: Workspace
  source: string
  signal: AbortSignal | undefined
}

const nothing: Found = { skills: [], warnings: [], errors: [] }
/** File names: the standard's, and one that its reference reader also accepts. */
const fileNames = ['SKILL.md', 'skill.md']
/** Maximum folders searched per directory. */
const maxFolders = 10_000
/** Files read in parallel. */
const atOnce = 16
/** Milliseconds of work between yields. */
const breathEvery = 10
/** Maximum bytes: up to three per UTF-16 unit, plus fences and a byte order mark. */
const maxBytes = 3 * maxFrontmatter + 1024

const loadOptions = optionsOf<LoadSkillsOptions>({ maxSkills: wholeFrom(1), signal: aSignal })

/**
 * Loads the skills in several directories of a workspace. If two skills have the same name, the one of the later directory wins.
 *
 * **Contract**
 * - A skill is a folder with a `SKILL.md`: a direct child of one of `dirs`, or the directory itself. Missing directories are skipped.
 *   Links to folders are followed within the workspace. A link that leads out becomes one of `errors`.
 * - Reads only the frontmatter and runs nothing. Searches at most 10,000 folders per directory.
 * - A file that cannot be read, or is not a skill, becomes one of `errors` and does not hide the others.
 * - Rejects with `ConfigError` for invalid options, with the reason of the signal, and with `LoadError` if the YAML parser cannot be
 *   loaded.
 *
 * @example
 * ```ts
 * const skills = await loadSkills(workspace, ['shared/skills', 'skills'])
 * const agent = new Agent({ model, skills, tools: [readFileTool({ workspace })] })
 * ```
 * Source: docs/guides/files-and-bash.md
 */
export async function loadSkills(workspace: Workspace, dirs: readonly string[], options: LoadSkillsOptions = {}): Promise<SkillSet> {
  checkOptions(workspace, aWorkspace, 'workspace')
  checkOptions(dirs, listOf(aText), 'dirs')
  checkOptions(options, loadOptions)
  options.signal?.throwIfAborted()
  let all = skillSet([])
  for (const dir of dirs) all = all.merge(await loadSkillDir(workspace, dir, dir, options))
  return all
}

/**
 * Loads the skills of one directory, like `loadSkills`. `source` describes the origin of the skills in user interfaces. Source:
 * docs/guides/files-and-bash.md
 */
export async function loadSkillDir(workspace: Workspace, dir: string, source: string, options: LoadSkillsOptions = {}): Promise<SkillSet> {
  checkOptions(workspace, aWorkspace, 'workspace')
  checkOptions(dir, aText, 'dir')
  checkOptions(source, aText, 'source')
  checkOptions(options, loadOptions)
  const { maxSkills = 1000, signal } = options
  signal?.throwIfAborted()
  const place = { workspace, source, signal }
  const { folders, errors } = await foldersOf(dir, place)
  const found: Found[] = [{ ...nothing, errors }]
  let count = 0
  let breathed = performance.now()
  for (let at = 0; at < folders.length && count <= maxSkills; at += atOnce) {
    const files = await Promise.all(folders.slice(at, at + atOnce).map((folder) => readFolder(folder, place)))
    for (const file of files) {
      const each = 'text' in file ? await toSkill(file, source) : file
      count += each.skills.length
      if (count <= maxSkills) found.push(each)
      if (performance.now() - breathed < breathEvery) continue
      await breathe(signal)
      breathed = performance.now()
    }
  }
  if (count > maxSkills) {
    found.push(
      failed(
        'tooMany',
        dir,
        `The directory has more than ${maxSkills} skills, and only the first are used. Raise maxSkills, or split the directory.`,
      ),
    )
  }
  return skillSet(
    found.flatMap(({ skills }) => skills),
    found.flatMap(({ warnings }) => warnings),
    found.flatMap((each) => each.errors),
  )
}

/** Returns the folders that may be skills, by path: those in `dir`, and `dir` itself. */
async function foldersOf(dir: string, { workspace, signal }: Place): Promise<{ folders: string[]; errors: readonly SkillProblem[] }> {
  try {
    const own = resolvePath(dir)
    const entries = await workspace.list(dir, { linkedDirectories: true, ...signalled(signal) })
    signal?.throwIfAborted()
    const isSkill = entries.some(({ path, kind }) => kind === 'file' && fileNames.includes(nameOfPath(path)))
    const inside = entries.filter(({ kind }) => kind === 'directory').map(({ path }) => path)
    const folders = [...(isSkill ? [own] : []), ...inside.sort()]
    if (folders.length <= maxFolders) return { folders, errors: [] }
    const message = `The directory has ${folders.length} folders, and only the first ${maxFolders} were searched. Keep skills in a separate directory.`
    return { folders: folders.slice(0, maxFolders), errors: failed('tooMany', dir, message).errors }
  } catch (error) {
    signal?.throwIfAborted()
    // A missing directory has no skills.
    return { folders: [], errors: isNotFound(error) ? [] : unreadable(dir, error).errors }
  }
}

/** Returns the beginning of the file in `folder`, or `undefined` if there is none. */
async function readFolder(folder: string, { workspace, signal }: Place): Promise<SkillFile | Found> {
  for (const fileName of fileNames) {
    const location = joinPath(folder, fileName)
    try {
      const head = await workspace.read(location, { end: maxBytes, ...signalled(signal) })
      signal?.throwIfAborted()
      return { folder, location, text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(head) }
    } catch (error) {
      signal?.throwIfAborted()
      if (!isNotFound(error)) return unreadable(location, error)
    }
  }
  return nothing
}

async function toSkill({ folder, location, text }: SkillFile, source: string): Promise<Found> {
  // The model could not read a file by its escaped path, and the raw path could spoof another one.
  if (/[\t\n]/.test(location) || escapeControls(location) !== location) {
    return failed('unreadable', location, 'The path has control characters and cannot be sent to a model. Rename the folder.')
  }
  try {
    const { body: _, warnings: odd, ...parsed } = await parseSkill(text)
    const fault = folderFault(parsed.name, folder === '.' ? undefined : nameOfPath(folder))
    const warnings = [...odd, ...(fault === undefined ? [] : [fault])].map((warning) => ({ ...warning, path: location }))
    return { skills: [Object.freeze({ ...parsed, location, baseDir: folder, source })], warnings, errors: [] }
  } catch (error) {
    if (!SkillError.isInstance(error)) throw error
    return failed(error.code, location, error.message)
  }
}

function isNotFound(error: unknown): boolean {
  return WorkspaceError.isInstance(error) && error.code === 'notFound'
}

function unreadable(path: string, error: unknown): Found {
  return failed('unreadable', path, `Cannot read the file or folder: ${errorText(error)}`)
}

function failed(code: SkillProblem['code'], path: string, message: string): Found {
  return { ...nothing, errors: [{ code, path, message: escapeControls(message) }] }
}

function signalled(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}
