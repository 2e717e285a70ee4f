import { escapeControls } from '../base/text/characters.ts'
import { type JsonObject, type JsonValue, ownOf } from '../contract/json.ts'
import { isPlainObject } from '../contract/shape/json-fault.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aText } from '../contract/shape/shape.ts'
import type { Skill, SkillProblem } from '../types/tool/skills.ts'
import { parseFrontmatter, SkillError, splitSkill } from './frontmatter.ts'

/** The parsed text of a `SKILL.md`, independent of where it is stored. */
export interface ParsedSkill extends Omit<Skill, 'location' | 'baseDir' | 'source'> {
  /** Instructions as Markdown, trimmed. */
  body: string
  /** Standard violations, without the path. */
  warnings: readonly Omit<SkillProblem, 'path'>[]
}

type Warning = ParsedSkill['warnings'][number]

/** Fields that the standard defines. */
const known = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools']

/** Maximum characters by the standard. */
const longest = { name: 64, description: 1024, compatibility: 500 }

/**
 * Parses the text of a `SKILL.md`, for skills that are not stored in a workspace and for access to the instructions.
 *
 * **Contract**
 * - The frontmatter is YAML with all scalars as strings, so `name: 123` gives `'123'`. Limits: 8,192 characters, 20 levels, 100 uses of
 *   an anchor.
 * - Rejects with `SkillError` if the text is not a skill. Other violations of the standard are warnings.
 * - Runs nothing and reads no other files.
 *
 * Source: docs/guides/files-and-bash.md
 */
export async function parseSkill(text: string): Promise<ParsedSkill> {
  checkOptions(text, aText, 'text')
  const split = splitSkill(text)
  const { fields, oddities } = await parseFrontmatter(split.yaml)
  const name = requiredText(fields, 'name', 'missingName').trim()
  const description = requiredText(fields, 'description', 'missingDescription')
  const warnings: Warning[] = [...nameFaults(name).map((message): Warning => ({ code: 'badName', message }))]
  const optional = optionalFields(fields, warnings)
  for (const [field, value] of Object.entries({ name, description, compatibility: optional.compatibility ?? '' })) {
    const most = longest[field as keyof typeof longest] // `longest` has no other keys.
    const length = Array.from(value).length
    if (length > most) warnings.push({ code: 'tooLong', message: `${field} has ${length} characters, but at most ${most} are allowed.` })
  }
  const unknown = Object.keys(fields).filter((field) => !known.includes(field))
  if (unknown.length > 0) {
    const message = `${shown(unknown.join(', '))}: not in the skill standard and ignored. Move it under metadata.`
    warnings.push({ code: 'unknownField', message })
  }
  const odd = [...split.oddities, ...oddities]
  if (odd.length > 0) warnings.push({ code: 'notPortable', message: `Other skill loaders may reject it: ${odd.join('; ')}.` })
  return { name, description, ...optional, frontmatter: fields, body: split.body, warnings }
}

/** Returns a warning if the folder name differs from the skill name, which the standard forbids. */
export function folderFault(name: string, folder: string | undefined): Warning | undefined {
  // The workspace does not know the name of its root.
  if (folder === undefined || comparable(folder) === comparable(name)) return undefined
  return { code: 'badName', message: `The folder is named ${shown(folder)} but the skill ${shown(name)}. Give both the same name.` }
}

/** Normalizes equivalent Unicode spellings. */
export function comparable(name: string): string {
  return name.normalize('NFKC')
}

function requiredText(fields: JsonObject, field: 'name' | 'description', code: 'missingName' | 'missingDescription'): string {
  const value = ownOf(fields, field)
  if (typeof value === 'string' && value.trim() !== '') return value
  const found = value === undefined ? 'is missing' : typeof value === 'string' ? 'is empty' : 'is not text'
  throw new SkillError(code, `The field ${field} ${found}. Every skill needs a name and a description.`)
}

function nameFaults(name: string): string[] {
  const plain = comparable(name)
  const faults: [boolean, string][] = [
    [plain !== plain.toLowerCase(), 'must be lower case'],
    [!/^[\p{L}\p{N}-]*$/u.test(plain), 'may contain only letters, digits and hyphens'],
    [/^-|-$/.test(plain), 'must not begin or end with a hyphen'],
    [plain.includes('--'), 'must not contain two hyphens in a row'],
  ]
  return faults.filter(([isFault]) => isFault).map(([, rule]) => `The name ${shown(name)} ${rule}.`)
}

/** Reads the optional fields of the standard. A field of the wrong type is dropped with a warning. */
function optionalFields(fields: JsonObject, warnings: Warning[]): Pick<Skill, 'license' | 'compatibility' | 'metadata' | 'allowedTools'> {
  const taken = <T>(field: string, form: string, read: (value: JsonValue) => T | undefined): T | undefined => {
    const value = ownOf(fields, field)
    if (value === undefined) return undefined
    const result = read(value)
    if (result === undefined) warnings.push({ code: 'badField', message: `${field} is not ${form} and is ignored.` })
    return result
  }
  const license = taken('license', 'a text', asText)
  const compatibility = taken('compatibility', 'a text', asText)
  const metadata = taken('metadata', 'a mapping', asObject)
  const allowedTools = taken('allowed-tools', 'a string or a list of strings', asToolNames)
  return {
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    ...(metadata !== undefined && { metadata }),
    ...(allowedTools !== undefined && { allowedTools }),
  }
}

function asText(value: JsonValue): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function asObject(value: JsonValue): JsonObject | undefined {
  return isPlainObject(value) ? value : undefined
}

/** Splits text at spaces and commas, but not within parentheses: `Bash(git log:*), Read`. */
function asToolNames(value: JsonValue): string[] | undefined {
  if (typeof value === 'string') return value.match(/(?:\([^)]*\)?|[^\s,(])+/g) ?? []
  const names = Array.isArray(value) ? value.filter((name) => typeof name === 'string') : undefined
  return names?.length === (value as unknown[]).length ? names : undefined // A list counts only if all entries are names.
}

function shown(text: string): string {
  return escapeControls(JSON.stringify(text.slice(0, 100)))
}
