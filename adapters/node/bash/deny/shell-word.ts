import { normalize } from 'node:path/posix'

/** A part of a word. `literal` is the final text. `glob` and `expansion` stay as written, and are resolved when the command runs. */
export interface WordPart {
  kind: 'literal' | 'glob' | 'expansion'
  text: string
}

/** A word of a command, after quote removal and brace expansion. */
export interface ShellWord {
  parts: readonly WordPart[]
  /** Whether the word has no quotes, escapes or expansions. Only such words can be reserved words. */
  isPlain: boolean
}

/** An unprocessed part. A `bare` part has no quotes, and each of its special characters is separate. */
export interface RawPart {
  kind: 'bare' | 'quoted' | 'expansion'
  text: string
}

const mostExpansions = 1000
const mostBraces = 50

/** Returns the words that raw parts expand to, or `undefined` if there are too many. */
export function wordsOf(parts: readonly RawPart[]): ShellWord[] | undefined {
  const braces = parts.filter(({ kind, text }) => kind === 'bare' && text === '{').length
  const expanded = braces > mostBraces ? undefined : bracesExpanded(parts)
  return expanded?.map((one) => ({ parts: withGlobs(one), isPlain: one.every(({ kind }) => kind === 'bare') }))
}

/** Expands all combinations: `{rm,-rf}` is two words. */
function bracesExpanded(parts: readonly RawPart[]): RawPart[][] | undefined {
  const isBare = (index: number, text: string) => parts[index]?.kind === 'bare' && parts[index].text === text
  for (let open = 0; open < parts.length; open++) {
    if (!isBare(open, '{')) continue
    const commas: number[] = []
    let depth = 0
    let close = open
    for (; close < parts.length; close++) {
      if (isBare(close, '{')) depth++
      else if (isBare(close, '}') && --depth === 0) break
      else if (depth === 1 && isBare(close, ',')) commas.push(close)
    }
    if (close === parts.length) continue
    const inside = parts.slice(open + 1, close)
    const text = inside.map((part) => part.text).join('')
    if (commas.length === 0 && !text.includes('..')) continue
    const edges = [open, ...commas, close]
    const choices: RawPart[][] =
      commas.length === 0
        ? [[{ kind: 'expansion', text: `{${text}}` }]]
        : edges.slice(1).map((end, index) => parts.slice((edges[index] ?? open) + 1, end))
    return combined(parts.slice(0, open), choices, parts.slice(close + 1))
  }
  return [[...parts]]
}

function combined(before: readonly RawPart[], choices: readonly RawPart[][], after: readonly RawPart[]): RawPart[][] | undefined {
  const ends = bracesExpanded(after)
  const middles = choices.map(bracesExpanded)
  if (ends === undefined) return undefined
  const words: RawPart[][] = []
  for (const middle of middles) {
    if (middle === undefined || words.length + middle.length * ends.length > mostExpansions) return undefined
    for (const chosen of middle) for (const end of ends) words.push([...before, ...chosen, ...end])
  }
  return words
}

function withGlobs(parts: readonly RawPart[]): WordPart[] {
  const found: WordPart[] = []
  const lastClose = parts.findLastIndex(({ kind, text }) => kind === 'bare' && text === ']')
  for (let at = 0; at < parts.length; at++) {
    const { kind, text } = parts[at] as RawPart // the index is within the list
    const isSet = kind === 'bare' && text === '[' && lastClose > at + 1
    const close = isSet ? parts.findIndex((part, index) => index > at + 1 && part.kind === 'bare' && part.text === ']') : -1
    if (close !== -1) {
      const set = parts.slice(at, close + 1).map((part) => part.text)
      found.push({ kind: 'glob', text: set.join('') })
      at = close
    } else if (kind === 'bare' && (text === '*' || text === '?')) found.push({ kind: 'glob', text })
    else if (text !== '') found.push({ kind: kind === 'expansion' ? 'expansion' : 'literal', text })
  }
  return found
}

/** Returns the word after quote removal, with globs and expansions as written. */
export function textOf({ parts }: ShellWord): string {
  return parts.map((part) => part.text).join('')
}

/** Like {@link textOf}, for text that runs later, after command substitutions with unknown results. */
export function laterText(parts: readonly (WordPart | RawPart)[]): string {
  return parts.map(({ kind, text }) => (kind === 'expansion' && /^(?:\$\(|[`<>])/.test(text) ? '$_' : text)).join('')
}

/** Returns whether the word is constant. */
export function isLiteral({ parts }: ShellWord): boolean {
  return parts.every(({ kind }) => kind === 'literal')
}

/** Normalizes a path: `//tmp/./x/` is `/tmp/x`. */
export function pathForm(text: string): string {
  const normal = text === '' ? '' : normalize(text)
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal
}

// Replaces unknown parts with characters that no command line contains.
const anyName = '\uE000'
const anything = '\uE001'

/** Returns whether the word can expand to `path`. A word that starts with an expansion is unknown and counts as different. */
export function canBe(word: ShellWord, path: string): boolean {
  const text = textOf(word)
  if (text === path || pathForm(text) === pathForm(path)) return true
  if (isLiteral(word) || word.parts[0]?.kind === 'expansion') return false
  const marked = word.parts.map(({ kind, text }) => (kind === 'literal' ? text : kind === 'glob' ? anyName : anything)).join('')
  return fits(pathForm(marked), pathForm(path))
}

/** Returns whether `path` matches `pattern`, in time proportional to the product of their lengths. */
function fits(pattern: string, path: string): boolean {
  // Path lengths that may be matched so far.
  let reached = new Set([0])
  for (const part of pattern) {
    const next = new Set<number>()
    for (const at of reached) {
      if (part === anyName || part === anything) {
        for (let end = at; end <= path.length && !next.has(end); end++) {
          next.add(end)
          if (part === anyName && path[end] === '/') break
        }
      } else if (path[at] === part) next.add(at + 1)
    }
    reached = next
    if (reached.size === 0) return false
  }
  return reached.has(path.length)
}

/** Returns the word as a program name, without directories. */
export function programWord(word: ShellWord): ShellWord {
  const slash = word.parts.findLastIndex(({ text }) => text.includes('/'))
  const part = word.parts[slash]
  if (part === undefined) return word
  const name = { ...part, text: part.text.slice(part.text.lastIndexOf('/') + 1) }
  return { ...word, parts: [name, ...word.parts.slice(slash + 1)].filter(({ text }) => text !== '') }
}
