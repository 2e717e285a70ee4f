import type { JsonObject } from '../../contract/json.ts'

/** A folder with instructions for a kind of task: what is known of it without reading the instructions. Source: docs/guides/files-and-bash.md */
export interface Skill {
  name: string
  /** What it does and when to use it: all that a model decides by. */
  description: string
  /** The path of its `SKILL.md` in the workspace it was loaded from, as `read_file` takes it. */
  location: string
  /** The folder of `location`: what `{baseDir}` in the instructions stands for. */
  baseDir: string
  /** Where it comes from, for people: the directory, or the label that `loadSkillDir` was given. */
  source: string
  license?: string
  /** What it needs: systems, programs, network. */
  compatibility?: string
  /** Values are texts, as they stand in the file. */
  metadata?: JsonObject
  /** Tools that the skill expects to be allowed, such as `Bash(git:*)`. Nothing is allowed by it. */
  allowedTools?: readonly string[]
  /** Every field of the frontmatter as it stands there, known or not. All scalars are texts. */
  frontmatter: JsonObject
}

/**
 * What is wrong with a skill or a directory of skills.
 *
 * - Errors, which mean that something was not loaded: `unreadable`, `noFrontmatter`, `invalidYaml`, `missingName`, `missingDescription`,
 *   `tooMany`.
 * - Warnings, where it was: `badName`, `tooLong`, `badField` (left out), `unknownField` (without effect), `notPortable` (another reader of skills
 *   may refuse it), `shadowed` (another skill of that name is used).
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

/** One thing that is wrong, and where. */
export interface SkillProblem {
  code: SkillProblemCode
  /** The file or directory, in the workspace. */
  path: string
  /** For people: what is wrong, with which value, and what to do. Control characters are escaped. */
  message: string
}

/**
 * Skills by name, for an agent: what `loadSkills` of `phi-core/tools` resolves with. It never changes.
 *
 * **Contract**: names are unique; `skills` is sorted by name, always in the same order.
 *
 * Source: docs/guides/files-and-bash.md
 */
export interface SkillSet {
  readonly skills: readonly Skill[]
  /** What is odd about skills that are used, and what was shadowed. */
  readonly warnings: readonly SkillProblem[]
  /** What could not be loaded. It does not hide the others. */
  readonly errors: readonly SkillProblem[]
  get(name: string): Skill | undefined
  /** Both together; of two skills with one name that of `other`, and a warning. */
  merge(other: SkillSet): SkillSet
  /** Only these. Throws `ConfigError` `invalidOption` for a name there is no skill of, naming the known ones. */
  select(names: readonly string[]): SkillSet
  /** The index for a system prompt, as the specification's XML; `''` when there are no skills. */
  formatForPrompt(): string
}

/** A system prompt with the index of skills after it. */
export function withSkills(systemPrompt: string, skills: SkillSet | undefined): string {
  return [systemPrompt, skills?.formatForPrompt() ?? ''].filter((part) => part !== '').join('\n\n')
}
