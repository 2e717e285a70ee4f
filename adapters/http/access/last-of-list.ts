const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const bracket = 0x5b
const brace = 0x7b

/**
 * The text of a JSON object of whose list `name` only the last element is kept, and the last one before it that `keeps` names, while it comes in pieces: what
 * else stands before is let go as it is read. What is no JSON is kept as it is, for whoever parses it.
 */
export class LastOfList {
  readonly #name: string
  readonly #keeps: (element: string) => boolean
  /** The last element before the one that is read which is kept too, with its comma. */
  #kept = ''
  /** All up to the element of the list that is read, or up to here. */
  #head = ''
  #element = ''
  #depth = 0
  #isInList = false
  #isInString = false
  #isEscaped = false
  /** The string of the outermost object that was read last, as far as it is no longer than the name. */
  #key = ''
  #isAfterColon = false

  /** `keeps` is given the text of each element but the last. Default: none is kept. */
  constructor(name: string, keeps: (element: string) => boolean = () => false) {
    this.#name = name
    this.#keeps = keeps
  }

  /** Characters that are kept of the last element and around the list. No other element is longer than this was. */
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
        // A picture is one long string: nothing in it is looked at but its end.
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

  /** Whether the list begins here. */
  #structure(code: number): boolean {
    if (code === quote) {
      this.#isInString = true
      if (this.#depth === 1) this.#key = ''
    } else if (code === bracket || code === brace) {
      this.#depth += 1
      if (this.#depth === 2 && code === bracket && this.#isAfterColon && this.#key === this.#name) return true
    } else if (isClosing(code)) this.#depth -= 1
    // White space stands anywhere.
    if (code > 0x20) this.#isAfterColon = code === colon && this.#depth === 1
    return false
  }
}

function isClosing(code: number): boolean {
  return code === 0x5d || code === 0x7d
}
