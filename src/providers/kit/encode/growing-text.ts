/** How many parts are kept apart before they are joined. */
const maxParts = 64

/**
 * Text that grows at its end and is forked often: joined in batches, so that neither a growing rope is flattened at each call nor all of it
 * copied for each part.
 */
export class GrowingText {
  #joined = ''
  #parts: string[] = []
  #partChars = 0

  get isEmpty(): boolean {
    return this.#joined === '' && this.#parts.length === 0
  }

  /** Appends `part`. */
  append(part: string): void {
    if (part === '') return
    this.#parts.push(part)
    this.#partChars += part.length
  }

  /** The same text, to go on with apart from this one. */
  fork(): GrowingText {
    // A part that is longer than all before it, such as a file, is not to be joined anew for each request.
    if (this.#parts.length > maxParts || this.#partChars > this.#joined.length) {
      this.#parts.unshift(this.#joined)
      this.#joined = this.#parts.join('')
      this.#parts = []
      this.#partChars = 0
    }
    const fork = new GrowingText()
    fork.#joined = this.#joined
    fork.#parts = this.#parts.slice()
    fork.#partChars = this.#partChars
    return fork
  }

  toString(): string {
    return this.#joined + this.#parts.join('')
  }
}

/** Lists of JSON texts as one; not by `join`, which copies what may be megabytes. */
export function joined(text: string, more: string): string {
  return text === '' || more === '' ? text + more : `${text},${more}`
}
