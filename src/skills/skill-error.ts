import { isNamed, PhiError } from '../contract/errors.ts'
import type { SkillProblemCode } from '../types/tool/skills.ts'

/** Why the text of a `SKILL.md` is no skill. */
export type SkillErrorCode = Extract<SkillProblemCode, 'noFrontmatter' | 'invalidYaml' | 'missingName' | 'missingDescription'>

/** A `SKILL.md` that cannot be used. Source: docs/concepts/skills.md */
export class SkillError extends PhiError<SkillErrorCode> {
  override readonly name = 'SkillError'

  static override isInstance(value: unknown): value is SkillError {
    return isNamed(value, 'SkillError')
  }
}
