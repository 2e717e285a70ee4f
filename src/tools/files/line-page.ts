import type { LineBatch } from './text-lines.ts'

/** Collects the requested lines of `read_file` and formats the result. */
export class LinePage {
  readonly #start: number
  readonly #end: number
  #room: number
  #lines: string[] = []
  #seen = 0
  #isCut = false

  /** Collects `limit` lines starting at number `offset`, at most `maxLength` characters. */
  constructor(offset: number, limit: number, maxLength: number) {
    this.#start = offset
    this.#end = offset + limit
    this.#room = maxLength
  }

  /** Number of the last line that was added. */
  get seen(): number {
    return this.#seen
  }

  /** Whether further lines are ignored. */
  get isFull(): boolean {
    return this.#isCut || this.#seen + 1 >= this.#end
  }

  /** Whether the file ended before the first requested line. */
  get isPastEnd(): boolean {
    return this.#start > 1 && this.#start > this.#seen
  }

  add({ first, lines }: LineBatch): void {
    for (const [index, line] of lines.entries()) {
      const number = first + index
      if (number >= this.#start && number < this.#end && !this.#isCut) this.#take(line)
    }
    this.#seen = first + lines.length - 1
  }

  /** Returns the header and the numbered lines. `isComplete`: the whole file was read, so that its line count is known. */
  text(isComplete: boolean): string {
    const last = this.#start + this.#lines.length - 1
    const isWhole = isComplete && this.#start === 1 && last === this.#seen
    const total = isComplete ? String(this.#seen) : `more than ${last}`
    const header = isWhole ? `[${this.#seen} lines]` : `[Lines ${this.#start}-${last} of ${total}]`
    const body = this.#lines.map((line, index) => `${String(this.#start + index).padStart(4)} | ${line}`).join('\n')
    return `${header}\n${body}${this.#isCut ? '\n... (output truncated)' : ''}`
  }

  #take(line: string): void {
    this.#isCut = line.length > this.#room
    if (this.#room > 0) this.#lines.push(line.slice(0, this.#room))
    this.#room -= line.length + 1
  }
}
