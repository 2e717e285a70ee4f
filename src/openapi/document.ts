import { pointerSegments } from '../base/json/json-value.ts'
import { yamlParser } from '../base/late/yaml-parser.ts'
import { bareUrl } from '../base/text/secrets.ts'
import { errorText } from '../contract/errors.ts'
import { isObject, type JsonSchema, ownOf } from '../contract/json.ts'
import { OpenApiError, type OpenApiToolsOptions } from './options.ts'

/** A document that was read. */
export interface OpenApiDocument {
  readonly root: JsonSchema
  /** In 3.0 nothing beside a `$ref` counts. */
  readonly is30: boolean
  /** Where it was fetched from: relative servers are relative to it. */
  readonly url?: URL
  /** Where in a workspace it was read. */
  readonly path?: string
  /** What it leads to in other files has been made part of it, as far as it is there. */
  readonly isBundled?: true
}

/** References through which one leads on: far more than documents have, and far from the end of a stack. */
export const maxHops = 100

/** Whether a reference leads out of the document that it stands in. */
export function isElsewhere(ref: unknown): ref is string {
  return typeof ref === 'string' && !ref.startsWith('#')
}

/** A reference as errors show it: without what an address may hold of secrets. */
export function shownRef(ref: string): string {
  return JSON.stringify((URL.canParse(ref) ? bareUrl(ref) + new URL(ref).hash : ref).slice(0, 300))
}

/** How the files of a document become one. */
export const howToBundle =
  'bundle it into one file (npx @redocly/cli bundle openapi.yaml -o bundled.json), or pass resolve, which reads its files'

/** Characters of YAML by default: reading it takes a hundred times as long as JSON, and keeps the thread. These take about a second. */
const defaultMaxYamlChars = 1_048_576

/**
 * Reads a document: JSON where the text begins with a brace and a quote, or is JSON, else YAML. Rejects with `OpenApiError` for what is neither, and for versions
 * other than 3; with `LoadError` where the YAML parser cannot be had.
 */
export async function readDocument(
  source: string | object,
  { maxYamlChars }: Pick<OpenApiToolsOptions, 'maxYamlChars'>,
  from: Pick<OpenApiDocument, 'url' | 'path'> = {},
): Promise<OpenApiDocument> {
  const root = typeof source === 'string' ? await parseDocument(source, maxYamlChars) : source
  if (!isObject(root)) throw new OpenApiError('invalidDocument', 'The OpenAPI document is no object: it must have "openapi" and "paths".')
  checkVersion(root)
  return { root, is30: /^3(\.0|$)/.test(String(root.openapi)), ...from }
}

/** The value of a text of JSON or YAML, called `what` in errors. */
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
      // YAML has braces too, but no quotes around its keys. What has them is JSON that is broken, and may be too long to be read twice.
      if (!/^\s*\{\s*[^\s"]/.test(text)) throw invalid(what, 'JSON', errorText(error))
    }
  }
  if (text.length > maxYamlChars) {
    const why = `${what} has ${text.length} characters of YAML; at most ${maxYamlChars} are read, because nothing else happens meanwhile`
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

/** The value of the one document in `text`. Stops at its first fault: a stranger's text may have one at each character, and each takes time. */
function yamlIn({ Composer, LineCounter, Parser }: Yaml, text: string): unknown {
  const lines = new LineCounter()
  const parser = new Parser(lines.addNewLine)
  function* untilFault() {
    for (const token of parser.parse(text)) {
      yield token
      if (token.type === 'error') return
    }
  }
  // Looking for keys that come twice takes the square of their number.
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
  if (found === undefined) throw new OpenApiError('invalidDocument', 'The document has no "openapi" version: it is no OpenAPI document.')
  const how =
    swagger !== undefined
      ? ' Convert it first: npx swagger2openapi swagger.json -o openapi.json'
      : ' Use a document of one of these versions.'
  throw new OpenApiError('unsupportedVersion', `${found} is an unsupported version: OpenAPI 3.0 and 3.1 are read.${how}`)
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 20) : typeof value
}

/** A field of an object, looking at own properties only: names of a document may be those of every object. */
export function field(node: unknown, key: string): unknown {
  return isObject(node) ? ownOf(node, key) : undefined
}

/** As {@link field}, where it is a text that says something. */
export function textField(node: unknown, key: string): string | undefined {
  const value = field(node, key)
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** The values of a field that is a list. */
export function listField(node: unknown, key: string): readonly unknown[] {
  const value = field(node, key)
  return Array.isArray(value) ? value : []
}

/** The entries of a field that is an object. */
export function entriesField(node: unknown, key: string): [string, unknown][] {
  const value = field(node, key)
  return isObject(value) ? Object.entries(value) : []
}

/**
 * What `node` is, or what its `$ref` leads to, through further ones: `undefined` where that is nowhere, a circle, or another document. Other
 * documents are made part of it before, or not at all.
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

/** A pointer may lead through other references, for which {@link follow} looks out. */
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
