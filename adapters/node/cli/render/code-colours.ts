import { c, cpp, csharp, dart, java, kotlin, scala } from '@codemirror/legacy-modes/mode/clike'
import { css, less, sCSS } from '@codemirror/legacy-modes/mode/css'
import { diff } from '@codemirror/legacy-modes/mode/diff'
import { dockerFile } from '@codemirror/legacy-modes/mode/dockerfile'
import { go } from '@codemirror/legacy-modes/mode/go'
import { javascript, json, typescript } from '@codemirror/legacy-modes/mode/javascript'
import { lua } from '@codemirror/legacy-modes/mode/lua'
import { python } from '@codemirror/legacy-modes/mode/python'
import { ruby } from '@codemirror/legacy-modes/mode/ruby'
import { rust } from '@codemirror/legacy-modes/mode/rust'
import { shell } from '@codemirror/legacy-modes/mode/shell'
import { standardSQL as sql } from '@codemirror/legacy-modes/mode/sql'
import { swift } from '@codemirror/legacy-modes/mode/swift'
import { toml } from '@codemirror/legacy-modes/mode/toml'
import { html, xml } from '@codemirror/legacy-modes/mode/xml'
import { yaml } from '@codemirror/legacy-modes/mode/yaml'
import { type StreamParser, StringStream } from '@codemirror/streamparser'
import { ownOf } from '../../../../src/contract/json.ts'
import type { Style } from '../terminal/paint.ts'

/** A part of a code line. Without a style, it is plain text. */
export interface CodePiece {
  text: string
  style?: Style
}

const languages: Readonly<Record<string, StreamParser<unknown>>> = {
  ...{ c, cpp, 'c++': cpp, cs: csharp, csharp, css, dart, diff, patch: diff, docker: dockerFile, dockerfile: dockerFile, go },
  ...{ h: c, hpp: cpp, html, java, javascript, js: javascript, jsx: javascript, mjs: javascript, json, jsonc: json, json5: json },
  ...{ kotlin, kt: kotlin, less, lua, py: python, python, rb: ruby, ruby, rs: rust, rust, scala, scss: sCSS, sql, svg: xml, swift },
  ...{ bash: shell, console: shell, sh: shell, shell, zsh: shell, toml, ts: typescript, tsx: typescript, typescript, vue: html },
  ...{ xml, yaml, yml: yaml },
}

/** Longer lines, and lines beyond this number, stay plain. */
const longestLine = 1000
const mostLines = 3000
/** Maximum parser steps without progress. */
const mostIdle = 10

/** Time limit for highlighting all code in a response. */
export interface ColourTime {
  leftMs: number
}

/**
 * Highlights code line by line. Reads each line once, starting from the state at the end of the previous line. CodeMirror's legacy modes
 * scan all open brackets and slow down with thousands of them, so code beyond the time limit stays plain.
 */
export class CodeColours {
  readonly #parser: StreamParser<unknown>
  readonly #time: ColourTime
  #state: unknown
  #lines = 0

  constructor(parser: StreamParser<unknown>, time: ColourTime) {
    this.#parser = parser
    this.#time = time
    this.#state = parser.startState?.(2) ?? {}
  }

  /** Returns the next line as parts. */
  line(text: string): CodePiece[] {
    this.#lines += 1
    if (this.#lines > mostLines || text.length > longestLine || this.#time.leftMs <= 0) return [{ text }]
    if (text === '') {
      this.#parser.blankLine?.(this.#state, 2)
      return []
    }
    try {
      return this.#read(new StringStream(text, 4, 2))
    } catch {
      // A stuck parser does not recover.
      this.#lines = mostLines
      return [{ text }]
    }
  }

  #read(stream: StringStream): CodePiece[] {
    const pieces: CodePiece[] = []
    for (let idle = 0; !stream.eol() && idle <= mostIdle; idle += 1) {
      stream.start = stream.pos
      const name = this.#token(stream)
      if (stream.pos === stream.start) continue
      idle = 0
      const style = styleOf(name)
      pieces.push({ text: stream.current(), ...(style !== undefined && { style }) })
    }
    if (!stream.eol()) throw new Error('The parser does not advance.')
    return pieces
  }

  #token(stream: StringStream): string | null {
    if (this.#time.leftMs <= 0) throw new Error('Syntax highlighting timed out.')
    const begun = performance.now()
    try {
      return this.#parser.token(stream, this.#state)
    } finally {
      this.#time.leftMs -= performance.now() - begun
    }
  }
}

/**
 * Creates a highlighter for a language, selected by code block name or file extension. Returns `undefined` for an unknown language.
 * Consumes `time`.
 */
export function coloursOf(language: string, time: ColourTime): CodeColours | undefined {
  const parser = ownOf(languages, language)
  return parser === undefined ? undefined : new CodeColours(parser, time)
}

/** Styles by parser token. */
const styles: Readonly<Record<string, Style>> = Object.fromEntries(
  (
    [
      ['dim', 'meta'],
      ['magenta', 'keyword self operatorKeyword'],
      ['green', 'string regexp inserted'],
      ['red', 'deleted'],
      ['yellow', 'number atom bool null unit attribute'],
      ['cyan', 'type typeName namespace builtin qualifier'],
      ['blue', 'tag def macroName property propertyName'],
      [['dim', 'italic'], 'comment'],
    ] satisfies [Style, string][]
  ).flatMap(([style, words]) => words.split(' ').map((word): [string, Style] => [word, style])),
)

/** Parsers return `variableName.function`, or several words. */
function styleOf(name: string | null): Style | undefined {
  const word = /^[A-Za-z]+/.exec(name ?? '')?.[0] ?? ''
  return ownOf(styles, word)
}
