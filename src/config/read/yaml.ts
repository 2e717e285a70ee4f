import type { Document, LineCounter, Node, Pair } from 'yaml'
import { maxAliasCount, yamlParser } from '../../base/late/yaml-parser.ts'
import { escapeControls } from '../../base/text/characters.ts'
import { ConfigError, errorText, LoadError } from '../../contract/errors.ts'
import { fieldIn } from '../../contract/json.ts'
import type { Path, Place } from '../config-error.ts'
import { documentOf, maxDepth, parseError, placeAt, type ReadDocument } from './document.ts'

type Yaml = typeof import('yaml')
type Position = ReturnType<LineCounter['linePos']>

/** Maximum lexer tokens, because parsing can take more than linear time. */
const maxTokens = 6000

/**
 * Parses a safe subset of YAML 1.2: one document without tags, directives, complex keys or merge keys (`<<`). Rejects with `ConfigError`
 * `parse`, and with `LoadError` if the parser cannot be loaded.
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
    checkNodes(library, yamlDocument, lines)
    return documentOf(yamlDocument.toJS({ maxAliasCount }), (path) => placeOf(library, yamlDocument, lines, path))
  } catch (error) {
    if (ConfigError.isInstance(error) || LoadError.isInstance(error)) throw error
    throw refused(errorText(error).split('\n', 1)[0] ?? '', { line: 1, col: 1 })
  }
}

/** Truncates the parser's message, which quotes tags and anchors of any length. */
function refused(words: string, { line, col }: Position): ConfigError {
  const reason = escapeControls(words.slice(0, 120))
  const place = { line, column: col }
  return parseError(`The configuration is not valid YAML: ${reason} (line ${place.line}, column ${place.column}).`, place)
}

function checkTokens({ CST, Lexer }: Yaml, text: string): void {
  let count = 0
  let brackets = 0
  let offset = 0
  for (const token of new Lexer().lex(text)) {
    const kind = CST.tokenType(token)
    count += 1
    if (token === '[' || token === '{') brackets += 1
    if (token === ']' || token === '}') brackets -= 1
    const fault = tokenFault(kind, count, brackets)
    if (fault !== undefined) {
      const { line, column } = placeAt(text, offset)
      throw refused(fault, { line, col: column })
    }
    if (!marks.has(kind)) offset += token.length
  }
}

/** Lexer tokens that are not in the text. */
const marks: ReadonlySet<string | null> = new Set(['doc-mode', 'flow-error-end', 'scalar'])

function tokenFault(kind: string | null, count: number, brackets: number): string | undefined {
  if (count > maxTokens) return `it has more than ${maxTokens} parts`
  if (brackets > maxDepth) return `it is nested deeper than ${maxDepth} levels`
  if (kind === 'explicit-key-ind') return 'a key must be a string; "? " is not supported'
  return kind === 'directive-line' ? 'directives such as %YAML are not supported' : undefined
}

/** Checks for duplicate keys, for which the parser takes quadratic time, and for unknown aliases, for which it reports no position. */
function checkNodes({ isScalar, visit }: Yaml, yamlDocument: Document, lines: LineCounter): void {
  visit(yamlDocument, {
    Map(_key, map) {
      const seen = new Set<unknown>()
      for (const { key } of map.items) {
        const name = isScalar(key) ? String(key.value) : key
        if (name === '<<') throw refused('merge keys ("<<") are not supported: write out the merged keys', positionOf(lines, key))
        if (seen.has(name)) throw refused(`duplicate key ${JSON.stringify(name)}`, positionOf(lines, key))
        seen.add(name)
      }
    },
    Alias(_key, alias) {
      const name = `the alias ${JSON.stringify(alias.source.slice(0, 40))}`
      if (alias.resolve(yamlDocument) === undefined) throw refused(`${name} refers to no earlier anchor`, positionOf(lines, alias))
    },
  })
}

function positionOf(lines: LineCounter, node: unknown): Position {
  const range = fieldIn(node, 'range')
  return lines.linePos(Array.isArray(range) ? Number(range[0]) : 0)
}

/** Returns the position of the deepest value on `path` that exists. */
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
  if (found === undefined) return undefined
  const { line, col } = positionOf(lines, found)
  return { line, column: col }
}
