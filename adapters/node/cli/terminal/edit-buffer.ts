const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Maximum characters to search for the end of a word. */
const farthest = 400

/** A multi-line text with a cursor that is never inside a grapheme. */
export class EditBuffer {
  #text = ''
  #cursor = 0
  /** Last killed text, for yanking. */
  #cut = ''

  get text(): string {
    return this.#text
  }

  /** Cursor position in UTF-16 units. */
  get cursor(): number {
    return this.#cursor
  }

  /** Inserts text and moves the cursor after it. */
  set(text: string): void {
    this.#text = text
    this.#cursor = text.length
  }

  insert(text: string): void {
    this.#replace(this.#cursor, this.#cursor, text)
  }

  /** Replaces the text from `from` to the cursor by `text`. */
  replaceFrom(from: number, text: string): void {
    this.#replace(from, this.#cursor, text)
  }

  left(): void {
    this.#cursor = this.#before()
  }

  right(): void {
    this.#cursor = this.#after()
  }

  wordLeft(): void {
    this.#cursor = this.#edge(this.#wordBefore(), 'before')
  }

  wordRight(): void {
    const [whole = ''] = /^[^\p{L}\p{N}_]*[\p{L}\p{N}_]*/u.exec(this.#text.slice(this.#cursor, this.#cursor + farthest)) ?? []
    this.#cursor = this.#edge(this.#cursor + whole.length, 'behind')
  }

  lineBegin(): void {
    this.#cursor = this.#lineAt(this.#cursor)
  }

  lineEnd(): void {
    const end = this.#text.indexOf('\n', this.#cursor)
    this.#cursor = end === -1 ? this.#text.length : end
  }

  /** Moves the cursor a line up or down in the same column. Returns false if there is no such line. */
  vertical(step: -1 | 1): boolean {
    const begin = this.#lineAt(this.#cursor)
    const place = this.#cursor - begin
    if (step === -1) {
      if (begin === 0) return false
      const above = this.#lineAt(begin - 1)
      this.#cursor = this.#edge(Math.min(above + place, begin - 1), 'before')
      return true
    }
    const end = this.#text.indexOf('\n', this.#cursor)
    if (end === -1) return false
    const next = this.#text.indexOf('\n', end + 1)
    this.#cursor = this.#edge(Math.min(end + 1 + place, next === -1 ? this.#text.length : next), 'before')
    return true
  }

  backspace(): void {
    this.#replace(this.#before(), this.#cursor, '')
  }

  delete(): void {
    this.#replace(this.#cursor, this.#after(), '')
  }

  cutWord(): void {
    this.#cutTo(this.#wordBefore())
  }

  cutToBegin(): void {
    const end = this.#cursor
    this.lineBegin()
    const begin = this.#cursor
    this.#cursor = end
    this.#cutTo(begin)
  }

  cutToEnd(): void {
    const begin = this.#cursor
    this.lineEnd()
    // At the end of a line, deletes the line break.
    if (this.#cursor === begin) this.#cursor = Math.min(begin + 1, this.#text.length)
    this.#cutTo(begin)
  }

  putBack(): void {
    this.insert(this.#cut)
  }

  #cutTo(begin: number): void {
    const cut = this.#text.slice(begin, this.#cursor)
    if (cut !== '') this.#cut = cut
    this.#replace(begin, this.#cursor, '')
  }

  #replace(from: number, to: number, text: string): void {
    this.#text = this.#text.slice(0, from) + text + this.#text.slice(to)
    // Following text may have merged with the last grapheme.
    this.#cursor = this.#edge(from + text.length, 'behind')
  }

  /** Returns the start of the line at `place`. */
  #lineAt(place: number): number {
    return place === 0 ? 0 : this.#text.lastIndexOf('\n', place - 1) + 1
  }

  #before(): number {
    const line = this.#lineAt(this.#cursor)
    if (line === this.#cursor) return Math.max(0, line - 1)
    const last = Array.from(graphemes.segment(this.#text.slice(Math.max(line, this.#cursor - farthest), this.#cursor))).at(-1)
    return this.#cursor - (last?.segment.length ?? 0)
  }

  #after(): number {
    const [next] = graphemes.segment(this.#text.slice(this.#cursor, this.#cursor + 200))
    return this.#cursor + (next?.segment.length ?? 0)
  }

  #wordBefore(): number {
    const [whole = ''] = /[\p{L}\p{N}_]*[^\p{L}\p{N}_]*$/u.exec(this.#text.slice(Math.max(0, this.#cursor - farthest), this.#cursor)) ?? []
    return this.#cursor - whole.length
  }

  /** Returns `place`, or the boundary of its grapheme. */
  #edge(place: number, side: 'before' | 'behind'): number {
    const begin = Math.max(this.#lineAt(place), place - farthest)
    let at = begin
    for (const { segment } of graphemes.segment(this.#text.slice(begin, place + farthest))) {
      if (at === place || (side === 'before' && at + segment.length > place)) return at
      at += segment.length
      if (at > place) return at
    }
    return at
  }
}
