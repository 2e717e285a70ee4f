/** How many parts are kept apart before they are joined. */
const maxParts = 64

/**
 * Text that grows at its end and is forked often: joined in batches, so that neither a growing rope is flattened at each call nor all of it
 * copied for each part.
 */
export class GrowingText {
  #joined = ''
  #parts: string[] = []

  get isEmpty(): boolean {
    return this.#joined === '' && this.#parts.length === 0
  }

  /** Appends `part`. */
  append(part: string): void {
    if (part !== '') this.#parts.push(part)
  }

  /** The same text, to go on with apart from this one. */
  fork(): GrowingText {
    if (this.#parts.length > maxParts) {
      this.#parts.unshift(this.#joined)
      this.#joined = this.#parts.join('')
      this.#parts = []
    }
    const fork = new GrowingText()
    fork.#joined = this.#joined
    fork.#parts = this.#parts.slice()
    return fork
  }

  toString(): string {
    return this.#joined + this.#parts.join('')
  }
}
