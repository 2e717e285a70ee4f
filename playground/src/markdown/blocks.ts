import { Lexer, type Token } from 'marked'

/** A piece of a text that is rendered by itself: only the last one of a growing text changes. */
export type Block =
  | { kind: 'code'; raw: string; language: string; code: string }
  | { kind: 'prose'; raw: string }
  | { kind: 'plain'; raw: string }

/** Longer texts are shown as they are: parsing must not hold up the page. */
const longestText = 200_000
const longestBlock = 20_000

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

function blockOf(token: Token): Block[] {
  const { type, raw } = token
  if (type === 'space' || type === 'def') return []
  if (type === 'code') return [{ kind: 'code', raw, language: languageOf(token.lang), code: String(token.text) }]
  return [{ kind: raw.length > longestBlock ? 'plain' : 'prose', raw }]
}

function languageOf(info: unknown): string {
  return typeof info === 'string' ? (/^[\w+#-]{1,20}/.exec(info)?.[0].toLowerCase() ?? '') : ''
}
