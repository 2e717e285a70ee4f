import type { Document, Scalar } from 'yaml'
import { maxAliasCount, yamlParser } from '../base/late/yaml-parser.ts'
import { errorText, isNamed, LoadError, PhiError } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import { jsonFault } from '../contract/shape/json-fault.ts'
import type { SkillProblemCode } from '../types/tool/skills.ts'

/** Why the text of a `SKILL.md` is no skill. */
export type SkillErrorCode = Extract<SkillProblemCode, 'noFrontmatter' | 'invalidYaml' | 'missingName' | 'missingDescription'>

/** A `SKILL.md` that cannot be used. Source: docs/guides/files-and-bash.md */
export class SkillError extends PhiError<SkillErrorCode> {
  override readonly name = 'SkillError'

  static override isInstance(value: unknown): value is SkillError {
    return isNamed(value, 'SkillError')
  }
}

/** The two parts of a `SKILL.md`. */
export interface SplitSkill {
  /** YAML, without its fences; every line ends with a line feed. */
  yaml: string
  /** Markdown, without white space around it. */
  body: string
  /** What is well understood here, and refused by other readers. */
  oddities: readonly string[]
}

/** The fields of a frontmatter. */
export interface Frontmatter {
  /** All scalars are texts. */
  fields: JsonObject
  oddities: readonly string[]
}

/** Characters: many times what the fields may hold together, and little enough to be parsed in some ms, whatever it is. */
export const maxFrontmatter = 8192

/** Brackets that are open at a time, also in texts. */
const maxOpen = 100

/** A fence is a whole line of its own; `...` ends a YAML document too. */
const opening = /^---[ \t]*(?:\r\n|\r|\n)/
const closing = /(?<=[\r\n])(---|\.\.\.)[ \t]*(?=[\r\n]|$)/

/** Parts `text` at its fences. Throws `SkillError` `noFrontmatter` where it does not begin with one, or the other does not come. */
export function splitSkill(text: string): SplitSkill {
  const hasMark = text.startsWith('\ufeff')
  const whole = hasMark ? text.slice(1) : text
  const first = opening.exec(whole)
  if (first === null) throw noFrontmatter('it does not begin with a line ---')
  const begin = first[0].length
  // From the line break of the first fence on: it is the one before the second where there is nothing between them.
  const last = closing.exec(whole.slice(begin - 1))
  if (last === null || last.index > maxFrontmatter) throw noFrontmatter(`there is no second line --- within ${maxFrontmatter} characters`)
  const end = begin - 1 + last.index
  const oddities = [
    ...(hasMark ? ['it begins with a byte order mark'] : []),
    ...(last[1] === '...' ? ['the frontmatter ends with ... instead of ---'] : []),
  ]
  // The line break before a fence is the fence's: a block of text that ends there does not end with one.
  const yaml = whole.slice(begin, Math.max(begin, end)).replace(/\r\n?/g, '\n').replace(/\n$/, '')
  return { yaml, body: whole.slice(end + last[0].length).trim(), oddities }
}

/**
 * The fields of `yaml`, as YAML 1.2 reads them but for scalars, which stay the texts they are. A key that comes twice has its last value.
 *
 * Rejects with `SkillError` `invalidYaml`, with line and column in the file where the parser knows them; with `LoadError` where the YAML parser
 * cannot be had.
 */
export async function parseFrontmatter(yaml: string): Promise<Frontmatter> {
  if (opensDeep(yaml)) throw invalidYaml(`more than ${maxOpen} brackets are open`)
  const parser = await yamlParser.load()
  const { visit, isMap, isScalar } = parser
  try {
    const { doc, text, isRepaired } = lenientDocument(yaml, parser)
    const [fault] = doc.errors
    if (fault !== undefined) throw invalidYaml(`${fault.message}${placeOf(text, fault.pos[0])}`)
    if (!isMap(doc.contents)) throw invalidYaml('The frontmatter is no mapping: it must have the fields name and description.')
    visit(doc, { Scalar: (_, node) => endWithText(node, text) })
    const fields: JsonObject = doc.toJS({ maxAliasCount })
    const wrong = jsonFault(fields, 'frontmatter', 20)
    if (wrong !== undefined) throw invalidYaml(`${wrong}.`)
    const repaired = isRepaired ? ['the description is no valid YAML unless it is put in quotes'] : []
    return { fields, oddities: [...repaired, ...odditiesOf(doc, { visit, isMap, isScalar })] }
  } catch (error) {
    if (SkillError.isInstance(error) || LoadError.isInstance(error)) throw error
    // What the parser throws for a bomb of aliases, or for what is nested deeper than the stack.
    throw invalidYaml(errorText(error))
  }
}

type YamlParser = Pick<typeof import('yaml'), 'parseDocument' | 'isMap' | 'isScalar' | 'isSeq'>

/**
 * Parses `yaml`. A description that is no valid YAML, or is text by its looks alone, is taken as it stands: people write `Use when: …` and
 * `[Beta] …` without quotes, and other loaders of skills take that. `text` is what was parsed, with the same lines.
 */
function lenientDocument(yaml: string, parser: YamlParser): { doc: Document; text: string; isRepaired: boolean } {
  // Looking for keys that come twice takes the square of their number; a picture of the place for each of many errors, that of the length.
  const options = { schema: 'failsafe', resolveKnownTags: false, uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const
  const doc = parser.parseDocument(yaml, options)
  if (doc.errors.length === 0 && !losesWords(doc, parser)) return { doc, text: yaml, isRepaired: false }
  const text = withQuotedDescription(yaml)
  return text === yaml ? { doc, text, isRepaired: false } : { doc: parser.parseDocument(text, options), text, isRepaired: true }
}

/** Whether the description is a list in brackets, or begins with a tag of its own such as `!important`. */
function losesWords({ contents }: Document, { isMap, isScalar, isSeq }: YamlParser): boolean {
  const node = isMap(contents) ? contents.get('description', true) : undefined
  if (isSeq(node)) return node.flow === true
  return isScalar(node) && node.type === 'PLAIN' && node.tag !== undefined && /^!\w/.test(node.tag)
}

/** A description that begins on the line of its key, with the lines that go on with it. `>` and `|` alone begin a block of text. */
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

/** The parser would go down until the stack is full, which takes its time. */
function opensDeep(yaml: string): boolean {
  let open = 0
  for (const [bracket] of yaml.matchAll(/[[\]{}]/g)) {
    open = bracket === '[' || bracket === '{' ? open + 1 : Math.max(0, open - 1)
    if (open > maxOpen) return true
  }
  return false
}

/** Takes off the line break that the parser adds to a block of text where the YAML ends without one. */
function endWithText(node: Scalar, yaml: string): void {
  const isBlock = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED'
  if (!isBlock || node.range?.[1] !== yaml.length || typeof node.value !== 'string' || yaml.endsWith('\n')) return
  node.value = node.value.replace(/\n$/, '')
}

/** What the standard's own validator, whose YAML is a stricter one, refuses. */
function odditiesOf(doc: Document, { visit, isMap, isScalar }: Pick<typeof import('yaml'), 'visit' | 'isMap' | 'isScalar'>): string[] {
  const found = new Set<string>()
  visit(doc, {
    Node(_, node) {
      if ('anchor' in node && node.anchor !== undefined) found.add('the frontmatter has an anchor (&)')
      if ('flow' in node && node.flow === true) found.add('the frontmatter has lists or mappings in brackets')
      if (!isMap(node)) return
      const keys = node.items.map(({ key }) => (isScalar(key) ? key.value : key))
      if (new Set(keys).size < keys.length) found.add('a field comes twice; the last one counts')
    },
  })
  return [...found]
}

function placeOf(yaml: string, at: number): string {
  const lines = yaml.slice(0, at).split('\n')
  // The fence is the first line of the file.
  return ` (line ${lines.length + 1}, column ${(lines.at(-1) ?? '').length + 1})`
}

function noFrontmatter(why: string): SkillError {
  return new SkillError(
    'noFrontmatter',
    `There is no frontmatter: ${why}. The first lines of a skill are ---, name: …, description: … and ---.`,
  )
}

function invalidYaml(why: string): SkillError {
  return new SkillError('invalidYaml', `The frontmatter cannot be read: ${why.replace(/\.$/, '')}.`)
}
