import type { Document, LineCounter, Node, Pair } from 'yaml'
import { yamlParser } from '../../base/late/yaml-parser.ts'
import { escapeControls } from '../../base/text/escape-controls.ts'
import { ConfigError, errorText, LoadError } from '../../contract/errors.ts'
import type { Path, Place } from '../config-error.ts'
import { documentOf, parseError, type ReadDocument } from './document.ts'

type Yaml = typeof import('yaml')

/** Pieces of a text, as the lexer sees them: what is made of them takes time, and some of it more than in proportion. */
const maxTokens = 6000
const maxBrackets = 32
/** How often aliases may multiply. */
const maxAliasCount = 100

/**
 * Reads YAML 1.2, its safe part: one document, no tags, no directives, no keys that are lists or objects. No merge keys (`<<`). Rejects with
 * `ConfigError` `parse`, and with `LoadError` where the parser cannot be had.
 */
export async function readYaml(text: string): Promise<ReadDocument> {
  const library = await yamlParser.load()
  try {
    checkTokens(library, text)
    const lines = new library.LineCounter()
    const options = { lineCounter: lines, uniqueKeys: false, resolveKnownTags: false, prettyErrors: false, logLevel: 'error' } as const
    const yamlDocument = library.parseDocument(text, options)
    const [problem] = [...yamlDocument.errors, ...yamlDocument.warnings]
    if (problem !== undefined) throw refused(problem.message.split('\n', 1)[0] ?? '', lines.linePos(problem.pos[0]))
    checkKeys(library, yamlDocument, lines)
    return documentOf(yamlDocument.toJS({ maxAliasCount }), (path) => placeOf(library, yamlDocument, lines, path))
  } catch (error) {
    if (ConfigError.isInstance(error) || LoadError.isInstance(error)) throw error
    throw refused(errorText(error).split('\n', 1)[0] ?? '')
  }
}

/** The parser quotes tags and anchors, which are as long as a stranger likes. */
function refused(words: string, at?: { line: number; col: number }): ConfigError {
  const reason = escapeControls(words.slice(0, 120))
  if (at === undefined) return parseError(`The configuration is not valid YAML: ${reason}`)
  const place = { line: at.line, column: at.col }
  return parseError(`The configuration is not valid YAML: ${reason} (line ${place.line}, column ${place.column}).`, place)
}

function checkTokens({ CST, Lexer }: Yaml, text: string): void {
  let count = 0
  let brackets = 0
  for (const token of new Lexer().lex(text)) {
    count += 1
    if (count > maxTokens) throw refused(`it has more than ${maxTokens} parts`)
    if (token === '[' || token === '{') brackets += 1
    if (token === ']' || token === '}') brackets -= 1
    if (brackets > maxBrackets) throw refused(`it is nested deeper than ${maxBrackets} levels`)
    const kind = CST.tokenType(token)
    if (kind === 'explicit-key-ind') throw refused('a key must be a text; "? " is not read')
    if (kind === 'directive-line') throw refused('directives such as %YAML are not read')
  }
}

/** Keys that come twice. The parser's own check takes the square of their number. */
function checkKeys({ isScalar, visit }: Yaml, yamlDocument: Document, lines: LineCounter): void {
  visit(yamlDocument, {
    Map(_key, map) {
      const seen = new Set<unknown>()
      for (const { key } of map.items) {
        const name = isScalar(key) ? String(key.value) : key
        if (name === '<<') throw refused('merge keys ("<<") are not read: write out what they stand for', positionOf(lines, key))
        if (seen.has(name)) throw refused(`the key ${JSON.stringify(name)} stands twice`, positionOf(lines, key))
        seen.add(name)
      }
    },
  })
}

function positionOf(lines: LineCounter, node: unknown): { line: number; col: number } | undefined {
  const range = typeof node === 'object' && node !== null ? Reflect.get(node, 'range') : undefined
  return Array.isArray(range) ? lines.linePos(Number(range[0])) : undefined
}

/** Where the last step of `path` that is in the document stands. */
function placeOf({ isMap, isScalar, isSeq }: Yaml, yamlDocument: Document, lines: LineCounter, path: Path): Place | undefined {
  let node: unknown = yamlDocument.contents
  let found: unknown
  for (const step of path) {
    if (isMap(node)) {
      const pair: Pair | undefined = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
      if (pair === undefined) break
      found = pair.key
      node = pair.value
    } else if (isSeq(node)) {
      const entry: Node | unknown = node.items[Number(step)]
      if (entry === undefined) break
      found = entry
      node = entry
    } else break
  }
  const position = positionOf(lines, found)
  return position === undefined ? undefined : { line: position.line, column: position.col }
}
