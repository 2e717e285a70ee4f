import { Lexer, type Token } from 'marked'

/** A piece of a text that is rendered by itself: only the last one of a growing text changes. */
export type Block =
  | { kind: 'code'; raw: string; language: string; code: string }
  | { kind: 'prose'; raw: string }
  | { kind: 'plain'; raw: string }

/** Longer texts are shown as they are: parsing must not hold up the page. */
const longestText = 200_000
const longestBlock = 4000
/** Lists and quotes within each other: parsing takes the square of it. */
const deepest = 24

/** Splits a growing text into blocks. What is followed by another block is settled and never looked at again. */
export class BlockReader {
  #settled: Block[] = []
  #prefix = ''

  read(given: string): readonly Block[] {
    const text = given.includes('\r') ? given.replace(/\r\n?/g, '\n') : given
    if (text.length > longestText) return [{ kind: 'plain', raw: text }]
    if (!text.startsWith(this.#prefix)) this.#forget()
    try {
      return this.#parse(text)
    } catch {
      // Nested deeper than the stack.
      this.#forget()
      return [{ kind: 'plain', raw: text }]
    }
  }

  #parse(text: string): readonly Block[] {
    if (isTooDeep(text, this.#prefix.length)) return [...this.#settled, { kind: 'plain', raw: text.slice(this.#prefix.length) }]
    const tokens = new Lexer().blockTokens(text.slice(this.#prefix.length))
    const last = tokens.findLastIndex(({ type }) => type !== 'space')
    const settled = tokens.slice(0, Math.max(0, last))
    this.#prefix += settled.map(({ raw }) => raw).join('')
    this.#settled.push(...settled.flatMap(blockOf))
    const open = tokens[last]
    return open === undefined ? this.#settled.slice() : [...this.#settled, ...blockOf(open)]
  }

  #forget(): void {
    this.#settled = []
    this.#prefix = ''
  }
}

/** Whether a line from `from` on begins with more marks of lists and quotes than anybody writes; two spaces count as one. */
function isTooDeep(text: string, from: number): boolean {
  for (let at = from; at < text.length; ) {
    let depth = 0
    let spaces = 0
    for (; at < text.length && ' \t>-*+'.includes(text.charAt(at)); at++) {
      const isSpace = text.charAt(at) === ' '
      if (isSpace) spaces++
      else depth++
    }
    if (depth > 0 && depth + spaces / 2 > deepest && !isRule(text, at)) return true
    const end = text.indexOf('\n', at)
    if (end < 0) return false
    at = end + 1
  }
  return false
}

/** A line that ends here is a rule or a row of a table, not a list within a list, when it is made of one mark without spaces. */
function isRule(text: string, at: number): boolean {
  const start = text.lastIndexOf('\n', at - 1) + 1
  return /^[-*]{3,}$/.test(text.slice(start, Math.min(at, start + 200)))
}

function blockOf(token: Token): Block[] {
  const { type, raw } = token
  if (type === 'space' || type === 'def') return []
  if (type === 'code') return [{ kind: 'code', raw, language: languageOf(token.lang), code: String(token.text) }]
  return [{ kind: raw.length > longestBlock ? 'plain' : 'prose', raw }]
}

function languageOf(info: unknown): string {
  return typeof info === 'string' ? (/^[\w+#-]{1,20}/.exec(info)?.[0].toLowerCase() ?? '') : ''
}
