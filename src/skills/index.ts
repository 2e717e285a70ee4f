// The entry `./skills`: named exports only, each with its contract in TSDoc.

export type { Skill, SkillProblem, SkillProblemCode, SkillSet } from '../types/tool/skills.ts'
export { SkillError, type SkillErrorCode } from './frontmatter.ts'
export { type LoadSkillsOptions, loadSkillDir, loadSkills } from './load-skills.ts'
export { type ParsedSkill, parseSkill } from './parse-skill.ts'
