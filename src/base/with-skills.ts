import type { SkillSet } from '../types/tool/skills.ts'

/** A system prompt with the index of skills after it. */
export function withSkills(systemPrompt: string, skills: SkillSet | undefined): string {
  return [systemPrompt, skills?.formatForPrompt() ?? ''].filter((part) => part !== '').join('\n\n')
}
