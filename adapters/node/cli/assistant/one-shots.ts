import { readFileSync } from 'node:fs'
import { replaceKept } from './kept-file.ts'

/** So many are known; older ones count as conversations. */
const most = 1000

/** Which sessions were one question, asked with `-p` or through a pipe: lists show them apart. A line for each in a file; one that cannot be read names none. */
export class OneShots {
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  has(sessionId: string): boolean {
    return this.#read().includes(sessionId)
  }

  add(sessionId: string): void {
    this.#write([...this.#read(), sessionId])
  }

  /** Somebody talks in it now. */
  remove(sessionId: string): void {
    const ids = this.#read()
    if (ids.includes(sessionId)) this.#write(ids.filter((id) => id !== sessionId))
  }

  #read(): string[] {
    try {
      return readFileSync(this.#file, 'utf8')
        .split('\n')
        .filter((id) => id !== '')
    } catch {
      return []
    }
  }

  #write(ids: readonly string[]): void {
    try {
      replaceKept(
        this.#file,
        ids
          .slice(-most)
          .map((id) => `${id}\n`)
          .join(''),
      )
    } catch {
      // The list is as it was.
    }
  }
}
