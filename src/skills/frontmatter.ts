import type { Document, Scalar } from 'yaml'
import { maxAliasCount, yamlParser } from '../base/late/yaml-parser.ts'
import { errorText, isNamed, LoadError, PhiError } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import { jsonFault } from '../contract/shape/json-fault.ts'
import type { SkillProblemCode } from '../types/tool/skills.ts'

/** Reason why the text of a `SKILL.md` is not a skill. */
export type SkillErrorCode = Extract<SkillProblemCode, 'noFrontmatter' | 'invalidYaml' | 'missingName' | 'missingDescription'>

/** Error for a `SKILL.md` that cannot be used. Source: docs/guides/files-and-bash.md */
export class SkillError extends PhiError<SkillErrorCode> {
  override readonly name = 'SkillError'

  static override isInstance(value: unknown): value is SkillError {
    return isNamed(value, 'SkillError')
  }
}

/** The two parts of a `SKILL.md`. */
export interface SplitSkill {
  /** YAML without its fences. Every line ends with a line feed. */
  yaml: string
  /** Markdown, trimmed. */
  body: string
  /** Constructs that are accepted here but rejected by other readers. */
  oddities: readonly string[]
}

/** The fields of a frontmatter. */
export interface Frontmatter {
  /** All scalars are strings. */
  fields: JsonObject
  oddities: readonly string[]
}

/** Maximum characters: far more than the fields may hold together, and few enough to parse in milliseconds. */
export const maxFrontmatter = 8192

/** Maximum nesting of brackets, counted also within strings. */
const maxOpen = 100

/** A fence is a whole line. `...` ends a YAML document too. */
const opening = /^---[ \t]*(?:\r\n|\r|\n)/
const closing = /(?<=[\r\n])(---|\.\.\.)[ \t]*(?=[\r\n]|$)/

/** Splits `text` at its fences. Throws `SkillError` `noFrontmatter` if one of the two is missing. */
export function splitSkill(text: string): SplitSkill {
  const hasMark = text.startsWith('\ufeff')
  const whole = hasMark ? text.slice(1) : text
  const first = opening.exec(whole)
  if (first === null) throw noFrontmatter('it does not begin with a --- line')
  const begin = first[0].length
  // Start at the first fence's line break: in an empty frontmatter, the same line break precedes the second fence.
  const last = closing.exec(whole.slice(begin - 1))
  if (last === null || last.index > maxFrontmatter) throw noFrontmatter(`there is no second --- line within ${maxFrontmatter} characters`)
  const end = begin - 1 + last.index
  const oddities = [
    ...(hasMark ? ['it begins with a byte order mark'] : []),
    ...(last[1] === '...' ? ['the frontmatter ends with ... instead of ---'] : []),
  ]
  // The line break before a fence belongs to the fence, so a block scalar that ends there has no final one.
  const yaml = whole.slice(begin, Math.max(begin, end)).replace(/\r\n?/g, '\n').replace(/\n$/, '')
  return { yaml, body: whole.slice(end + last[0].length).trim(), oddities }
}

/**
 * Returns the fields of `yaml` by the rules of YAML 1.2, with all scalars as strings. The last of duplicate keys wins.
 *
 * - Rejects with `SkillError` `invalidYaml`, with line and column in the file if the parser knows them.
 * - Rejects with `LoadError` if the YAML parser cannot be loaded.
 */
export async function parseFrontmatter(yaml: string): Promise<Frontmatter> {
  if (opensDeep(yaml)) throw invalidYaml(`more than ${maxOpen} brackets are open`)
  const parser = await yamlParser.load()
  const { visit, isMap, isScalar } = parser
  try {
    const { doc, text, isRepaired } = lenientDocument(yaml, parser)
    const [fault] = doc.errors
    if (fault !== undefined) throw invalidYaml(`${fault.message}${placeOf(text, fault.pos[0])}`)
    if (!isMap(doc.contents)) throw invalidYaml('The frontmatter is not a mapping: it must have the fields name and description.')
    visit(doc, { Scalar: (_, node) => endWithText(node, text) })
    const fields: JsonObject = doc.toJS({ maxAliasCount })
    const wrong = jsonFault(fields, 'frontmatter', 20)
    if (wrong !== undefined) throw invalidYaml(`${wrong}.`)
    const repaired = isRepaired ? ['the description is only valid YAML in quotes'] : []
    return { fields, oddities: [...repaired, ...odditiesOf(doc, { visit, isMap, isScalar })] }
  } catch (error) {
    if (SkillError.isInstance(error) || LoadError.isInstance(error)) throw error
    // The parser throws this for an alias bomb and for nesting deeper than the stack.
    throw invalidYaml(errorText(error))
  }
}

type YamlParser = Pick<typeof import('yaml'), 'parseDocument' | 'isMap' | 'isScalar' | 'isSeq'>

/**
 * Parses `yaml`. A description that is invalid YAML, or that YAML would not read as a string, is read literally. Authors write `Use when:
 * …` and `[Beta] …` without quotes, and other loaders accept that. `text` is the parsed text, with the same lines.
 */
function lenientDocument(yaml: string, parser: YamlParser): { doc: Document; text: string; isRepaired: boolean } {
  // Checking for duplicate keys takes quadratic time, and so does a code frame for each of many errors.
  const options = { schema: 'failsafe', resolveKnownTags: false, uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const
  const doc = parser.parseDocument(yaml, options)
  if (doc.errors.length === 0 && !losesWords(doc, parser)) return { doc, text: yaml, isRepaired: false }
  const text = withQuotedDescription(yaml)
  return text === yaml ? { doc, text, isRepaired: false } : { doc: parser.parseDocument(text, options), text, isRepaired: true }
}

/** Returns whether the description is a flow sequence, or begins with a tag such as `!important`. */
function losesWords({ contents }: Document, { isMap, isScalar, isSeq }: YamlParser): boolean {
  const node = isMap(contents) ? contents.get('description', true) : undefined
  if (isSeq(node)) return node.flow === true
  return isScalar(node) && node.type === 'PLAIN' && node.tag !== undefined && /^!\w/.test(node.tag)
}

/** A description that begins on the line of its key, with its continuation lines. `>` or `|` alone begins a block scalar. */
const plainDescription = /^description:[ \t]+(?![|>][-+\d]*[ \t]*(?:#.*)?$)(\S.*(?:\n(?:[ \t]+.*)?(?=\n|$))*)/gm

function withQuotedDescription(yaml: string): string {
  return yaml.replaceAll(plainDescription, (_, value: string) => {
    const lines = value.split('\n')
    const text = lines
      .map((line) => line.trim())
      .join('\n')
      .trim()
      .replace(/\n+/g, ({ length }) => (length === 1 ? ' ' : '\n'.repeat(length - 1)))
    return `description: ${JSON.stringify(text)}${'\n'.repeat(lines.length - 1)}`
  })
}

/** Checked first, because the parser would recurse until the stack overflows. */
function opensDeep(yaml: string): boolean {
  let open = 0
  for (const [bracket] of yaml.matchAll(/[[\]{}]/g)) {
    open = bracket === '[' || bracket === '{' ? open + 1 : Math.max(0, open - 1)
    if (open > maxOpen) return true
  }
  return false
}

/** Removes the line break that the parser adds to a block scalar at the end of YAML without one. */
function endWithText(node: Scalar, yaml: string): void {
  const isBlock = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED'
  if (!isBlock || node.range?.[1] !== yaml.length || typeof node.value !== 'string' || yaml.endsWith('\n')) return
  node.value = node.value.replace(/\n$/, '')
}

/** Lists constructs that the standard's validator, with its stricter YAML parser, rejects. */
function odditiesOf(doc: Document, { visit, isMap, isScalar }: Pick<typeof import('yaml'), 'visit' | 'isMap' | 'isScalar'>): string[] {
  const found = new Set<string>()
  visit(doc, {
    Node(_, node) {
      if ('anchor' in node && node.anchor !== undefined) found.add('the frontmatter has an anchor (&)')
      if ('flow' in node && node.flow === true) found.add('the frontmatter has lists or mappings in brackets')
      if (!isMap(node)) return
      const keys = node.items.map(({ key }) => (isScalar(key) ? key.value : key))
      if (new Set(keys).size < keys.length) found.add('a field is set twice, and the last value is used')
    },
  })
  return [...found]
}

function placeOf(yaml: string, at: number): string {
  const lines = yaml.slice(0, at).split('\n')
  // The fence is the file's first line.
  return ` (line ${lines.length + 1}, column ${(lines.at(-1) ?? '').length + 1})`
}

function noFrontmatter(why: string): SkillError {
  return new SkillError('noFrontmatter', `The frontmatter is missing: ${why}. Begin the skill with ---, name: …, description: … and ---.`)
}

function invalidYaml(why: string): SkillError {
  return new SkillError('invalidYaml', `The frontmatter is invalid: ${why.replace(/\.$/, '')}.`)
}
