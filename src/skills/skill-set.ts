import { aSkillSet } from '../base/argument-checks.ts'
import { escapeControls } from '../base/text/characters.ts'
import { ConfigError } from '../contract/errors.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aText, listOf } from '../contract/shape/shape.ts'
import type { Skill, SkillProblem, SkillSet } from '../types/tool/skills.ts'
import { comparable } from './parse-skill.ts'

/** Maximum characters of a description or a name in a prompt: the standard's limit. */
const maxShown = 1024

/** Creates a set of `skills`. If several have the same name, the last one wins, and each of the others adds a warning. */
export function skillSet(skills: readonly Skill[], warnings: readonly SkillProblem[] = [], errors: readonly SkillProblem[] = []): SkillSet {
  const byName = new Map<string, Skill>()
  const shadowed: SkillProblem[] = []
  for (const skill of skills) {
    const key = comparable(skill.name)
    const other = byName.get(key)
    if (other !== undefined) shadowed.push(shadowedBy(other, skill))
    byName.set(key, skill)
  }
  const sorted = [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, skill]) => skill)
  return new LoadedSkills(byName, sorted, [...warnings, ...shadowed], errors)
}

class LoadedSkills implements SkillSet {
  readonly skills: readonly Skill[]
  readonly warnings: readonly SkillProblem[]
  readonly errors: readonly SkillProblem[]
  readonly #byName: ReadonlyMap<string, Skill>
  #index: string | undefined

  constructor(
    byName: ReadonlyMap<string, Skill>,
    skills: readonly Skill[],
    warnings: readonly SkillProblem[],
    errors: readonly SkillProblem[],
  ) {
    this.#byName = byName
    this.skills = Object.freeze(skills)
    this.warnings = Object.freeze(warnings)
    this.errors = Object.freeze(errors)
  }

  get(name: string): Skill | undefined {
    return this.#byName.get(comparable(name))
  }

  merge(other: SkillSet): SkillSet {
    checkOptions(other, aSkillSet, 'other')
    return skillSet([...this.skills, ...other.skills], [...this.warnings, ...other.warnings], [...this.errors, ...other.errors])
  }

  select(names: readonly string[]): SkillSet {
    checkOptions(names, listOf(aText), 'names')
    return skillSet(
      [...new Set(names)].map((name) => this.get(name) ?? this.#unknown(name)),
      this.warnings,
      this.errors,
    )
  }

  formatForPrompt(): string {
    this.#index ??= indexOf(this.skills)
    return this.#index
  }

  #unknown(name: string): never {
    const known = this.skills.map((skill) => JSON.stringify(skill.name)).join(', ')
    const failed = this.errors.length === 0 ? '' : ` ${this.errors.length} could not be loaded: see errors.`
    throw new ConfigError('invalidOption', escapeControls(`Unknown skill ${JSON.stringify(name)}. Known: ${known || 'none'}.${failed}`))
  }
}

function indexOf(skills: readonly Skill[]): string {
  if (skills.length === 0) return ''
  return `<available_skills>\n${skills.map(entryOf).join('\n')}\n</available_skills>`
}

function entryOf({ name, description, location }: Skill): string {
  return [
    '  <skill>',
    `    <name>${toXml(cut(name))}</name>`,
    `    <description>${toXml(cut(description.trim()))}</description>`,
    `    <location>${toXml(location)}</location>`,
    '  </skill>',
  ].join('\n')
}

function cut(text: string): string {
  const characters = Array.from(text)
  return characters.length <= maxShown ? text : `${characters.slice(0, maxShown).join('')}…`
}

const entities: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&apos;'],
])

/** Escapes `text` for an XML element, and removes characters that XML forbids. */
function toXml(text: string): string {
  const visible = escapeControls(text).replace(/[\p{Cs}\ufffe\uffff]/gu, '\ufffd')
  return visible.replace(/[&<>"']/g, (character) => entities.get(character) ?? '')
}

function shadowedBy(other: Skill, skill: Skill): SkillProblem {
  const [unused, used] = [other, skill].map(({ location, source }) => `${location} (${source})`)
  const message = `Skill ${JSON.stringify(other.name.slice(0, 100))} of ${unused} is ignored: ${used} has the same name and takes precedence.`
  return { code: 'shadowed', path: other.location, message: escapeControls(message) }
}
