import { pointerSegments } from '../base/json/json-value.ts'
import { yamlParser } from '../base/late/yaml-parser.ts'
import { bareUrl } from '../base/text/secrets.ts'
import { errorText } from '../contract/errors.ts'
import { isObject, type JsonSchema, ownOf } from '../contract/json.ts'
import { OpenApiError, type OpenApiToolsOptions } from './options.ts'

/** A parsed document. */
export interface OpenApiDocument {
  readonly root: JsonSchema
  /** In OpenAPI 3.0, siblings of `$ref` are ignored. */
  readonly is30: boolean
  /** URL it was fetched from, the base of relative servers. */
  readonly url?: URL
  /** Path in the workspace. */
  readonly path?: string
  /** Set after bundling. */
  readonly isBundled?: true
}

/** Maximum chained references: more than documents have, and too few to overflow the stack. */
export const maxHops = 100

/** Returns whether a reference points to another document. */
export function isElsewhere(ref: unknown): ref is string {
  return typeof ref === 'string' && !ref.startsWith('#')
}

/** Returns a reference for error messages, without parts of the URL that may be secret. */
export function shownRef(ref: string): string {
  return JSON.stringify((URL.canParse(ref) ? bareUrl(ref) + new URL(ref).hash : ref).slice(0, 300))
}

/** Hint for documents with several files. */
export const howToBundle =
  'bundle it into one file (npx @redocly/cli bundle openapi.yaml -o bundled.json), or pass resolve, which reads its files'

/** Default limit of YAML in characters, about one second of work. YAML parses a hundred times slower than JSON and blocks the thread. */
const defaultMaxYamlChars = 1_048_576

/**
 * Parses a document: JSON if the text begins with a brace and a quote or is valid JSON, otherwise YAML.
 *
 * - Rejects with `OpenApiError` for text that is neither, and for versions other than 3.
 * - Rejects with `LoadError` if the YAML parser cannot be loaded.
 */
export async function readDocument(
  source: string | object,
  { maxYamlChars }: Pick<OpenApiToolsOptions, 'maxYamlChars'>,
  from: Pick<OpenApiDocument, 'url' | 'path'> = {},
): Promise<OpenApiDocument> {
  const root = typeof source === 'string' ? await parseDocument(source, maxYamlChars) : source
  if (!isObject(root))
    throw new OpenApiError('invalidDocument', 'The OpenAPI document is not an object: it must have "openapi" and "paths".')
  checkVersion(root)
  return { root, is30: /^3(\.0|$)/.test(String(root.openapi)), ...from }
}

/** Parses JSON or YAML. `what` names the text in errors. */
export async function parseDocument(
  source: string,
  maxYamlChars: number = defaultMaxYamlChars,
  what = 'The OpenAPI document',
): Promise<unknown> {
  const text = source.replace(/^\uFEFF/, '')
  if (/^\s*[{[]/.test(text)) {
    try {
      return JSON.parse(text)
    } catch (error) {
      // YAML flow mappings rarely quote keys. Text that does is broken JSON, and may be too long to parse twice.
      if (!/^\s*\{\s*[^\s"]/.test(text)) throw invalid(what, 'JSON', errorText(error))
    }
  }
  if (text.length > maxYamlChars) {
    const why = `${what} has ${text.length} characters of YAML, more than maxYamlChars (${maxYamlChars}), and parsing blocks the thread`
    throw new OpenApiError('invalidDocument', `${why}: convert it to JSON, or raise maxYamlChars.`)
  }
  const library = await yamlParser.load()
  try {
    return yamlIn(library, text)
  } catch (error) {
    throw invalid(what, 'YAML', errorText(error))
  }
}

type Yaml = Awaited<ReturnType<typeof yamlParser.load>>

/**
 * Returns the value of the only document in `text`. Stops at the first error: untrusted text may have one per character, and each takes
 * time.
 */
function yamlIn({ Composer, LineCounter, Parser }: Yaml, text: string): unknown {
  const lines = new LineCounter()
  const parser = new Parser(lines.addNewLine)
  function* untilFault() {
    for (const token of parser.parse(text)) {
      yield token
      if (token.type === 'error') return
    }
  }
  // Checking for duplicate keys takes quadratic time.
  const composer = new Composer({ merge: true, uniqueKeys: false, logLevel: 'error' })
  let found: { value: unknown } | undefined
  for (const parsed of composer.compose(untilFault(), true, text.length)) {
    const [fault] = parsed.errors
    if (fault !== undefined) {
      const { line, col } = lines.linePos(fault.pos[0])
      throw new Error(`${fault.message} at line ${line}, column ${col}`)
    }
    if (found !== undefined) throw new Error('it contains several documents')
    found = { value: parsed.toJS({ maxAliasCount: 1000 }) }
  }
  return found?.value
}

function invalid(what: string, language: string, why: string): OpenApiError {
  return new OpenApiError('invalidDocument', `${what} is not valid ${language}: ${why.split('\n', 1)[0]}`)
}

function checkVersion(root: JsonSchema): void {
  const { openapi, swagger } = root
  if (/^3(\.[0-2])?(\.|$)/.test(String(openapi))) return
  const found = swagger !== undefined ? `Swagger ${text(swagger)}` : openapi !== undefined ? `OpenAPI ${text(openapi)}` : undefined
  if (found === undefined) throw new OpenApiError('invalidDocument', 'This is not an OpenAPI document: it has no "openapi" version.')
  const how =
    swagger !== undefined
      ? ' Convert it first: npx swagger2openapi swagger.json -o openapi.json'
      : ' Convert the document to one of these versions.'
  throw new OpenApiError('unsupportedVersion', `${found} is an unsupported version: use OpenAPI 3.0 or 3.1.${how}`)
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 20) : typeof value
}

/** Returns an object's own property, because a name in a document may also exist on `Object.prototype`. */
export function field(node: unknown, key: string): unknown {
  return isObject(node) ? ownOf(node, key) : undefined
}

/** Returns {@link field} if it is a non-empty string. */
export function textField(node: unknown, key: string): string | undefined {
  const value = field(node, key)
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** Returns the items of a field that is an array. */
export function listField(node: unknown, key: string): readonly unknown[] {
  const value = field(node, key)
  return Array.isArray(value) ? value : []
}

/** Returns the entries of a field that is an object. */
export function entriesField(node: unknown, key: string): [string, unknown][] {
  const value = field(node, key)
  return isObject(value) ? Object.entries(value) : []
}

/**
 * Returns `node`, or the target of its `$ref`, through further references. Returns `undefined` for a missing target, for a circular
 * reference, and for other documents, which must be bundled first.
 */
export function dereference(api: OpenApiDocument, node: unknown): unknown {
  return follow(api.root, node, new Set())
}

function follow(root: JsonSchema, node: unknown, seen: Set<object>): unknown {
  let target = node
  for (let ref = field(target, '$ref'); typeof ref === 'string'; ref = field(target, '$ref')) {
    if (!isObject(target) || seen.has(target) || seen.size === maxHops) return undefined
    seen.add(target)
    target = resolve(root, ref, seen)
  }
  return target
}

/** Resolves a pointer that may pass through other references. {@link follow} detects circular references. */
function resolve(root: JsonSchema, ref: string, seen: Set<object>): unknown {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let node: unknown = root
  for (const segment of pointerSegments(ref)) {
    if (typeof node !== 'object' || node === null) return undefined
    const isHere = Object.hasOwn(node, segment)
    const place: unknown = isHere ? node : follow(root, node, seen)
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, segment)) return undefined
    node = Reflect.get(place, segment)
  }
  return node
}
