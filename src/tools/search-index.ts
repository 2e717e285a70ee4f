/** An indexed text and its item. */
interface Entry<T> {
  item: T
  counts: ReadonlyMap<string, number>
  length: number
}

/** BM25 parameters k1 and b (Robertson and Zaragoza, 2009). */
const saturation = 1.2
const lengthWeight = 0.75

/** Full-text index that ranks items by BM25. Splits identifiers into words. */
export class SearchIndex<T> {
  readonly #entries: readonly Entry<T>[]
  readonly #spread = new Map<string, number>()
  readonly #meanLength: number

  constructor(items: readonly (readonly [item: T, text: string])[]) {
    this.#entries = items.map(([item, text]) => {
      const words = wordsOf(text)
      const counts = new Map<string, number>()
      for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
      for (const word of counts.keys()) this.#spread.set(word, (this.#spread.get(word) ?? 0) + 1)
      return { item, counts, length: words.length }
    })
    const total = this.#entries.reduce((sum, { length }) => sum + length, 0)
    this.#meanLength = Math.max(1, total / Math.max(1, this.#entries.length))
  }

  /** Returns at most `most` matching items, best first. Ties keep insertion order. */
  find(query: string, most: number): T[] {
    const words = [...new Set(wordsOf(query))].filter((word) => this.#spread.has(word))
    if (words.length === 0) return []
    const found = this.#entries.flatMap((entry) => {
      const score = words.reduce((sum, word) => sum + this.#score(entry, word), 0)
      return score > 0 ? [{ item: entry.item, score }] : []
    })
    return found
      .sort((a, b) => b.score - a.score)
      .slice(0, most)
      .map(({ item }) => item)
  }

  #score({ counts, length }: Entry<T>, word: string): number {
    const count = counts.get(word) ?? 0
    if (count === 0) return 0
    const spread = this.#spread.get(word) ?? 0
    const rarity = Math.log(1 + (this.#entries.length - spread + 0.5) / (spread + 0.5))
    const norm = 1 - lengthWeight + lengthWeight * (length / this.#meanLength)
    return (rarity * count * (saturation + 1)) / (count + saturation * norm)
  }
}

/** Splits text into lower-case words. `listOpenInvoices`, `list_open_invoices` and "lists open invoices" produce the same words. */
function wordsOf(text: string): string[] {
  const split = text.replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2').toLowerCase()
  return (split.match(/[\p{L}\p{N}]+/gu) ?? []).map(stem)
}

/** Strips English plural and verb endings. */
function stem(word: string): string {
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}
