import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parsedJson } from '../../../../src/base/json/json-value.ts'
import { replaceKept } from '../assistant/kept-files.ts'

/** Maximum number of lines, and maximum length per line. */
const mostKept = 500
const longestKept = 10_000

/** Lines from this session and earlier ones, for the arrow keys and Ctrl-R. Kept only in memory if there is no file. */
export class LineHistory {
  readonly #file: string | undefined
  readonly #lines: string[]

  /** `file` is private, with one JSON line each. An unreadable file counts as empty. */
  constructor(file: string | undefined) {
    this.#file = file
    this.#lines = file === undefined ? [] : readLines(file)
  }

  get length(): number {
    return this.#lines.length
  }

  at(index: number): string | undefined {
    return this.#lines[index]
  }

  add(line: string): void {
    if (line.trim() === '' || line.length > longestKept || line === this.#lines.at(-1)) return
    this.#lines.push(line)
    if (this.#file === undefined) return
    try {
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 })
      appendFileSync(this.#file, `${JSON.stringify(line)}\n`, { mode: 0o600 })
    } catch {
      // Ignore a failed write, which only loses the line for the next session.
    }
  }

  /** Returns the newest line before `before` that contains `query`. */
  find(query: string, before: number): number | undefined {
    for (let at = Math.min(before, this.#lines.length) - 1; at >= 0; at -= 1) if (this.#lines[at]?.includes(query)) return at
    return undefined
  }
}

function readLines(file: string): string[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n').flatMap(lineIn)
    if (lines.length <= 2 * mostKept) return lines.slice(-mostKept)
    const kept = lines.slice(-mostKept)
    replaceKept(file, kept.map((line) => `${JSON.stringify(line)}\n`).join(''))
    return kept
  } catch {
    return []
  }
}

/** Two programs may have written simultaneously. */
function lineIn(text: string): string[] {
  const line = parsedJson(text)
  return typeof line === 'string' ? [line] : []
}
