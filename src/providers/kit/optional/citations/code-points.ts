import { isHighSurrogate } from '../../../../base/text/characters.ts'

/** UTF-16 units between two cached positions. */
const step = 512

/**
 * Maps code points of a growing text to UTF-16 positions. Counts each unit once, so that many citations in a long text take only linear
 * time.
 */
export class CodePoints {
  #text = ''
  /** Number of code points before each multiple of `step` units. */
  readonly #before: number[] = [0]

  constructor(text = '') {
    this.grow(text)
  }

  /** Length of the text in UTF-16 units. */
  get length(): number {
    return this.#text.length
  }

  /** Appends: `text` starts with the previous text. */
  grow(text: string): this {
    this.#text = text
    for (let from = (this.#before.length - 1) * step; from + step <= text.length; from += step) {
      let count = this.#before.at(-1) ?? 0
      for (let unit = from; unit < from + step; unit += 1) if (this.#begins(unit)) count += 1
      this.#before.push(count)
    }
    return this
  }

  /** Converts a code point position to a UTF-16 position. Returns `undefined` beyond the end of the text. */
  unitAt(point: number): number | undefined {
    let low = 0
    let high = this.#before.length
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((this.#before[middle] ?? 0) <= point) low = middle
      else high = middle
    }
    let passed = this.#before[low] ?? 0
    for (let unit = low * step; unit < this.#text.length; unit += 1) {
      if (!this.#begins(unit)) continue
      if (passed === point) return unit
      passed += 1
    }
    return passed === point ? this.#text.length : undefined
  }

  #begins(unit: number): boolean {
    const code = this.#text.charCodeAt(unit)
    return code < 0xdc00 || code > 0xdfff || unit === 0 || !isHighSurrogate(this.#text.charCodeAt(unit - 1))
  }
}
