import { Lexer, type Token } from 'marked'

/** A part of a text that is rendered separately. In a growing text, only the last block changes. */
export type Block =
  | { kind: 'code'; raw: string; language: string; code: string }
  | { kind: 'prose'; raw: string }
  | { kind: 'plain'; raw: string }

/** Longer texts are shown as plain text, because parsing must not block the page. */
const longestText = 200_000
const longestBlock = 4000
/** Maximum characters parsed at a time. Fenced code may be longer. */
const longestWindow = 2 * longestBlock
/** Maximum nesting of lists and quotes. Parsing time is quadratic in the depth. */
const deepest = 24

/** Splits a growing text into blocks. Does not parse a block again after the next block has started. */
export class BlockReader {
  #settled: Block[] = []
  #prefix = ''

  read(given: string): readonly Block[] {
    const text = given.includes('\r') ? given.replace(/\r\n?/g, '\n') : given
    if (text.length > longestText) return [{ kind: 'plain', raw: text }]
    if (!text.startsWith(this.#prefix)) this.#forget()
    return this.#parse(text)
  }

  /** Parses the text after the settled blocks, one window at a time, because the lexer takes quadratic time. */
  #parse(text: string): readonly Block[] {
    for (;;) {
      const rest = text.slice(this.#prefix.length)
      const window = rest.slice(0, endOfFence(rest) ?? longestWindow)
      const tokens = tokensOf(window)
      if (tokens === undefined) return [...this.#settled, { kind: 'plain', raw: rest }]
      const last = tokens.findLastIndex(({ type }) => type !== 'space')
      const open = tokens[last]
      const isAll = window.length === rest.length
      if (last > 0) this.#settle(tokens.slice(0, last))
      else if (!isAll && tokens.length === 1 && open?.type === 'code') this.#settle(tokens)
      else if (!isAll) {
        // A single block fills the window.
        const end = rest.indexOf('\n\n', window.length)
        if (end < 0) return [...this.#settled, { kind: 'plain', raw: rest }]
        this.#settled.push({ kind: 'plain', raw: rest.slice(0, end) })
        this.#prefix += rest.slice(0, end)
      }
      if (isAll) return open === undefined ? this.#settled.slice() : [...this.#settled, ...blockOf(open)]
    }
  }

  #settle(tokens: readonly Token[]): void {
    this.#prefix += tokens.map(({ raw }) => raw).join('')
    this.#settled.push(...tokens.flatMap(blockOf))
  }

  #forget(): void {
    this.#settled = []
    this.#prefix = ''
  }
}

/**
 * Returns the end of the fenced block that `text` starts with, or the length of `text` if the block is not closed yet. Returns `undefined`
 * if it starts with something else.
 */
function endOfFence(text: string): number | undefined {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(text)?.[1]
  if (fence === undefined) return undefined
  const closing = new RegExp(`\\n {0,3}${fence}${fence.charAt(0)}*[ \\t]*(?:\\n|$)`).exec(text)
  return closing === null ? text.length : closing.index + closing[0].length
}

/** Returns `undefined` if the text is nested too deeply. */
function tokensOf(text: string): Token[] | undefined {
  if (isTooDeep(text)) return undefined
  try {
    return new Lexer().blockTokens(text)
  } catch {
    // The nesting exceeded the call stack.
    return undefined
  }
}

/** Returns whether a line starts with unrealistically many list and quote markers. Two spaces count as one marker. */
function isTooDeep(text: string): boolean {
  for (let at = 0; at < text.length; ) {
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

/** Returns whether the line that ends at `at` is a rule or a table row rather than nested lists: dashes or asterisks without spaces. */
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
