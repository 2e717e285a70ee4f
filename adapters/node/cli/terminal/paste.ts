const begin = '\x1b[200~'
const end = '\x1b[201~'

/** What a terminal says before and after it sends what was pasted, once it has been asked to. */
export const bracketedPaste = { on: '\x1b[?2004h', off: '\x1b[?2004l' }

/** Nobody types so much at once. */
const longestTyped = 1024

/** Characters of one paste that are kept. */
const longestPaste = 4 * 1024 * 1024

/** Tells what is typed from what is pasted, in the chunks that a terminal sends. */
export class PasteReader {
  readonly #typed: (text: string) => void
  readonly #pasted: (text: string, isCut: boolean) => void
  #pieces: string[] | undefined
  #length = 0
  /** The beginning of a mark, whose rest comes with the next chunk. */
  #held = ''

  constructor(on: { typed: (text: string) => void; pasted: (text: string, isCut: boolean) => void }) {
    this.#typed = on.typed
    this.#pasted = on.pasted
  }

  push(chunk: string): void {
    let rest = this.#held + chunk
    this.#held = ''
    while (rest !== '') {
      const mark = this.#pieces === undefined ? begin : end
      const at = rest.indexOf(mark)
      if (at !== -1) {
        this.#take(rest.slice(0, at))
        rest = rest.slice(at + mark.length)
        this.#turn()
        continue
      }
      const held = heldBack(rest, mark)
      this.#take(rest.slice(0, rest.length - held))
      this.#held = rest.slice(rest.length - held)
      return
    }
  }

  #turn(): void {
    if (this.#pieces === undefined) {
      this.#pieces = []
      this.#length = 0
      return
    }
    const text = this.#pieces.join('')
    this.#pieces = undefined
    this.#pasted(text, this.#length > longestPaste)
  }

  #take(text: string): void {
    if (text === '') return
    if (this.#pieces === undefined) {
      // A terminal that does not say what is pasted.
      if (text.length > longestTyped) this.#pasted(text.slice(0, longestPaste), text.length > longestPaste)
      else this.#typed(text)
      return
    }
    const room = longestPaste - this.#length
    if (room > 0) this.#pieces.push(text.slice(0, room))
    this.#length += text.length
  }
}

/** How much of the end of `text` may be the beginning of `mark`. An escape alone, or with one more, is a key. */
function heldBack(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length >= 3; length -= 1) {
    if (text.endsWith(mark.slice(0, length))) return length
  }
  return 0
}
