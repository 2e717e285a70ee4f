const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const bracket = 0x5b
const brace = 0x7b

/**
 * Receives a JSON object's text in pieces. Reduces its `name` list to the last element and the last earlier element that `keeps` selects.
 * Drops all other elements immediately. Leaves invalid JSON unchanged, so that the parser rejects it.
 */
export class LastOfList {
  readonly #name: string
  readonly #keeps: (element: string) => boolean
  /** The last selected element before the current one, with its comma. */
  #kept = ''
  /** Text before the current list element. */
  #head = ''
  #element = ''
  #depth = 0
  #isInList = false
  #isInString = false
  #isEscaped = false
  /** The last string of the outermost object, if it is no longer than the name. */
  #key = ''
  #isAfterColon = false

  /** `keeps` receives the text of each element except the last. Default: keeps none. */
  constructor(name: string, keeps: (element: string) => boolean = () => false) {
    this.#name = name
    this.#keeps = keeps
  }

  /** Number of characters in the last element and around the list. Every other element was at most as long. */
  get length(): number {
    return this.#head.length + this.#element.length
  }

  get text(): string {
    return this.#head + this.#kept + this.#element
  }

  add(piece: string): void {
    let from = 0
    let escapeAt = piece.indexOf('\\')
    for (let at = 0; at < piece.length; at++) {
      if (this.#isInString && !this.#isEscaped && this.#depth !== 1) {
        // Search only for the string's end, because an image is one long string.
        if (escapeAt >= 0 && escapeAt < at) escapeAt = piece.indexOf('\\', at)
        const end = piece.indexOf('"', at)
        at = Math.min(end < 0 ? piece.length : end, escapeAt < 0 ? piece.length : escapeAt)
        if (at === piece.length) break
      }
      const code = piece.charCodeAt(at)
      if (this.#isInString) this.#inString(code)
      else if (code === comma && this.#isInList && this.#depth === 2) {
        this.#keep(piece.slice(from, at))
        if (this.#keeps(this.#element)) this.#kept = `${this.#element},`
        this.#element = ''
        from = at + 1
      } else if (isClosing(code) && this.#isInList && this.#depth === 2) {
        this.#keep(piece.slice(from, at))
        from = at
        this.#head += this.#kept + this.#element
        this.#kept = ''
        this.#element = ''
        this.#isInList = false
        this.#structure(code)
      } else if (this.#structure(code)) {
        this.#keep(piece.slice(from, at + 1))
        from = at + 1
        this.#isInList = true
      }
    }
    this.#keep(piece.slice(from))
  }

  #keep(text: string): void {
    if (this.#isInList) this.#element += text
    else this.#head += text
  }

  #inString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (code === backslash) this.#isEscaped = true
    else if (code === quote) this.#isInString = false
    if (this.#isInString && this.#depth === 1 && this.#key.length <= this.#name.length) this.#key += String.fromCharCode(code)
  }

  /** Returns whether the list begins here. */
  #structure(code: number): boolean {
    if (code === quote) {
      this.#isInString = true
      if (this.#depth === 1) this.#key = ''
    } else if (code === bracket || code === brace) {
      this.#depth += 1
      if (this.#depth === 2 && code === bracket && this.#isAfterColon && this.#key === this.#name) return true
    } else if (isClosing(code)) this.#depth -= 1
    // Whitespace may be anywhere.
    if (code > 0x20) this.#isAfterColon = code === colon && this.#depth === 1
    return false
  }
}

function isClosing(code: number): boolean {
  return code === 0x5d || code === 0x7d
}
