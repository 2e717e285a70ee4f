/** How many parts are kept apart before they are joined. */
const maxParts = 64
/** Characters from which on a part is referred to, and not copied: a message with a file. */
const longPart = 64 * 1024

/**
 * Text that grows at its end and is forked often: joined in batches, so that neither a growing rope is flattened at each call nor all of it
 * copied for each part.
 */
export class GrowingText {
  #joined = ''
  #parts: string[] = []
  #hasLong = false

  get isEmpty(): boolean {
    return this.#joined === '' && this.#parts.length === 0
  }

  /** Appends `part`. */
  append(part: string): void {
    if (part === '') return
    this.#parts.push(part)
    if (part.length >= longPart) this.#hasLong = true
  }

  /** The same text, to go on with apart from this one. */
  fork(): GrowingText {
    if (this.#parts.length > maxParts) {
      this.#joined = this.toString()
      this.#parts = []
      this.#hasLong = false
    }
    const fork = new GrowingText()
    fork.#joined = this.#joined
    fork.#parts = this.#parts.slice()
    fork.#hasLong = this.#hasLong
    return fork
  }

  toString(): string {
    if (!this.#hasLong) return this.#joined + this.#parts.join('')
    let text = this.#joined
    let from = 0
    for (const [at, part] of this.#parts.entries()) {
      if (part.length < longPart) continue
      text += this.#parts.slice(from, at).join('') + part
      from = at + 1
    }
    return text + this.#parts.slice(from).join('')
  }
}

/** Lists of JSON texts as one; not by `join`, which copies what may be megabytes. */
export function joined(text: string, more: string): string {
  return text === '' || more === '' ? text + more : `${text},${more}`
}

/** As {@link joined}, of any number; those that are empty leave nothing. */
export function joinedAll(texts: readonly string[]): string {
  return texts.reduce(joined, '')
}
