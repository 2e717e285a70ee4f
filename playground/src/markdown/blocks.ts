import { Lexer, type Token } from 'marked'

/** A piece of a text that is rendered by itself: only the last one of a growing text changes. */
export type Block =
  | { kind: 'code'; raw: string; language: string; code: string }
  | { kind: 'prose'; raw: string }
  | { kind: 'plain'; raw: string }

/** Longer texts are shown as they are: parsing must not hold up the page. */
const longestText = 200_000
const longestBlock = 4000
/** How much is parsed at once. Code in a fence may be longer. */
const longestWindow = 2 * longestBlock
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
    return this.#parse(text)
  }

  /** Reads on from what is settled, a window at a time: the lexer takes the square of what it is given. */
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
        // One block fills the window.
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

/** Returns the code of a fenced block that `text` starts with; the text if it is not closed yet. `undefined` if it starts with something else. */
function endOfFence(text: string): number | undefined {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(text)?.[1]
  if (fence === undefined) return undefined
  const closing = new RegExp(`\\n {0,3}${fence}${fence.charAt(0)}*[ \\t]*(?:\\n|$)`).exec(text)
  return closing === null ? text.length : closing.index + closing[0].length
}

/** `undefined` for what is nested too deeply. */
function tokensOf(text: string): Token[] | undefined {
  if (isTooDeep(text)) return undefined
  try {
    return new Lexer().blockTokens(text)
  } catch {
    // Deeper than the stack.
    return undefined
  }
}

/** Whether a line begins with more marks of lists and quotes than anybody writes; two spaces count as one. */
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
