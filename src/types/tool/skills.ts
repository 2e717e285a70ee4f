import type { JsonObject } from '../../contract/json.ts'

/** A folder with instructions for one kind of task, without the instructions themselves. Source: docs/guides/files-and-bash.md */
export interface Skill {
  name: string
  /** What the skill does and when to use it. The model decides by this text alone. */
  description: string
  /** Path of its `SKILL.md` in its workspace, as `read_file` takes it. */
  location: string
  /** Folder of `location`; replaces `{baseDir}` in the instructions. */
  baseDir: string
  /** Display name of its origin: the directory, or the label passed to `loadSkillDir`. */
  source: string
  license?: string
  /** Requirements: systems, programs, network. */
  compatibility?: string
  /** Values are strings, as in the file. */
  metadata?: JsonObject
  /** Tools that the skill expects, such as `Bash(git:*)`. Informational: this allows nothing. */
  allowedTools?: readonly string[]
  /** All frontmatter fields, known or not. All scalars are strings. */
  frontmatter: JsonObject
}

/**
 * Codes of problems with skills.
 *
 * - Errors, not loaded: `unreadable`, `noFrontmatter`, `invalidYaml`, `missingName`, `missingDescription`, `tooMany`.
 * - Warnings, loaded: `badName`, `tooLong`, `badField` (left out), `unknownField` (ignored), `notPortable` (other loaders may reject it),
 *   `shadowed` (another skill of this name is used).
 */
export type SkillProblemCode =
  | 'unreadable'
  | 'noFrontmatter'
  | 'invalidYaml'
  | 'missingName'
  | 'missingDescription'
  | 'tooMany'
  | 'badName'
  | 'tooLong'
  | 'badField'
  | 'unknownField'
  | 'notPortable'
  | 'shadowed'

/** A problem with a skill, and its location. */
export interface SkillProblem {
  code: SkillProblemCode
  /** The file or directory, in the workspace. */
  path: string
  /** Message for developers: what is wrong, with which value, and what to do. Control characters are escaped. */
  message: string
}

/**
 * Loaded skills for an agent, as `loadSkills` of `phi-core/tools` returns them. Immutable.
 *
 * **Contract**: names are unique; `skills` is sorted by name.
 *
 * Source: docs/guides/files-and-bash.md
 */
export interface SkillSet {
  readonly skills: readonly Skill[]
  /** Problems of skills that are used, and shadowed skills. */
  readonly warnings: readonly SkillProblem[]
  /** Skills that failed to load. They do not affect the others. */
  readonly errors: readonly SkillProblem[]
  get(name: string): Skill | undefined
  /** Returns both sets together. For a duplicate name, the skill of `other` is used, with a warning. */
  merge(other: SkillSet): SkillSet
  /** Returns only these skills. Throws `ConfigError` `invalidOption` for an unknown name, with the known ones. */
  select(names: readonly string[]): SkillSet
  /** Returns the skill index for a system prompt, as the specification's XML; `''` without skills. */
  formatForPrompt(): string
}

/** Appends the skill index to a system prompt. */
export function withSkills(systemPrompt: string, skills: SkillSet | undefined): string {
  return [systemPrompt, skills?.formatForPrompt() ?? ''].filter((part) => part !== '').join('\n\n')
}
