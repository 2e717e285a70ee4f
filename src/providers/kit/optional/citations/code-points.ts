import { isHighSurrogate } from '../../../../base/text/characters.ts'

/** Units between two places whose code points are counted. */
const step = 512

/**
 * Where code points stand in a text that grows, in UTF-16 units. Each unit is counted once, so that what a service says of a long text, place by place, costs no more
 * than the text.
 */
export class CodePoints {
  #text = ''
  /** How many begin before each `step` units. */
  readonly #before: number[] = [0]

  constructor(text = '') {
    this.grow(text)
  }

  /** How long the text is, in units. */
  get length(): number {
    return this.#text.length
  }

  /** `text` is what it was, and more. */
  grow(text: string): this {
    this.#text = text
    for (let from = (this.#before.length - 1) * step; from + step <= text.length; from += step) {
      let count = this.#before.at(-1) ?? 0
      for (let unit = from; unit < from + step; unit += 1) if (this.#begins(unit)) count += 1
      this.#before.push(count)
    }
    return this
  }

  /** The unit at which code point `point`, from 0, begins, or the text ends; `undefined` behind its end. */
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
