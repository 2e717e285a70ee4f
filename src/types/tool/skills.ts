import type { JsonObject } from '../../contract/json.ts'

/** A skill's metadata. A skill is a folder with instructions for one kind of task. Source: docs/guides/files-and-bash.md */
export interface Skill {
  name: string
  /** Describes what the skill does and when to use it. The model selects skills by this text alone. */
  description: string
  /** Workspace path of the skill's `SKILL.md`, in the form that `read_file` accepts. */
  location: string
  /** Directory that contains `location`. Resolve the relative paths in the instructions against this directory. */
  baseDir: string
  /** Display name of the directory that contains the skill, or the label passed to `loadSkillDir`. */
  source: string
  license?: string
  /** Requirements such as operating systems, programs or network access. */
  compatibility?: string
  /** Metadata from the file. All values are strings. */
  metadata?: JsonObject
  /** Tools that the skill expects, such as `Bash(git:*)`. Informational only: grants no permission. */
  allowedTools?: readonly string[]
  /** All frontmatter fields, including unknown ones. All scalars are strings. */
  frontmatter: JsonObject
}

/**
 * Codes for skill problems.
 *
 * - Errors (the skill is not loaded): `unreadable`, `noFrontmatter`, `invalidYaml`, `missingName`, `missingDescription`, `tooMany`.
 * - Warnings (the skill is loaded): `badName`, `tooLong`, `badField` (the field is omitted), `unknownField` (the field is ignored),
 *   `notPortable` (other loaders may reject the skill), `shadowed` (another skill of the same name is used).
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

/** A problem found while loading a skill. */
export interface SkillProblem {
  code: SkillProblemCode
  /** File or directory in the workspace. */
  path: string
  /** Message for developers: the problem, the invalid value and the fix. Control characters are escaped. */
  message: string
}

/**
 * Immutable set of loaded skills, returned by `loadSkills` from `phi-core/tools`.
 *
 * **Contract**: names are unique, and `skills` is sorted by name.
 *
 * Source: docs/guides/files-and-bash.md
 */
export interface SkillSet {
  readonly skills: readonly Skill[]
  /** Problems with loaded skills, including shadowed ones. */
  readonly warnings: readonly SkillProblem[]
  /** Errors of skills that failed to load. Other skills are unaffected. */
  readonly errors: readonly SkillProblem[]
  get(name: string): Skill | undefined
  /** Merges two sets. If both contain a name, the skill from `other` wins and a warning is added. */
  merge(other: SkillSet): SkillSet
  /** Returns a set with only the named skills. Throws `ConfigError` `invalidOption` for an unknown name. */
  select(names: readonly string[]): SkillSet
  /** Returns the skill index for a system prompt in the specification's XML format, or `''` without skills. */
  formatForPrompt(): string
}

/** Appends the skill index to a system prompt. */
export function withSkills(systemPrompt: string, skills: SkillSet | undefined): string {
  return [systemPrompt, skills?.formatForPrompt() ?? ''].filter((part) => part !== '').join('\n\n')
}
