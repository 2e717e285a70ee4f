const begin = '\x1b[200~'
const end = '\x1b[201~'

/** Marks that terminals send around a paste in bracketed paste mode. */
export const bracketedPaste = { on: '\x1b[?2004h', off: '\x1b[?2004l' }

/** Minimum characters per chunk that count as a paste. Typing never produces this many. */
const longestTyped = 1024

/** Maximum characters per paste. */
const longestPaste = 4 * 1024 * 1024

/** Separates typed from pasted text in terminal input. */
export class PasteReader {
  readonly #typed: (text: string) => void
  readonly #pasted: (text: string, isCut: boolean) => void
  #pieces: string[] | undefined
  #length = 0
  /** Start of a mark that continues in the next chunk. */
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
      // Outside a paste, an escape alone, or with one more character, is a key.
      const held = heldBack(rest, mark, this.#pieces === undefined ? 3 : 1)
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
      // Paste in a terminal without bracketed paste.
      if (text.length > longestTyped) this.#pasted(text.slice(0, longestPaste), text.length > longestPaste)
      else this.#typed(text)
      return
    }
    const room = longestPaste - this.#length
    if (room > 0) this.#pieces.push(text.slice(0, room))
    this.#length += text.length
  }
}

/** Returns how many characters at the end of `text` may start `mark`. Returns 0 for fewer than `shortest` characters. */
function heldBack(text: string, mark: string, shortest: number): number {
  for (let length = Math.min(mark.length - 1, text.length); length >= shortest; length -= 1) {
    if (text.endsWith(mark.slice(0, length))) return length
  }
  return 0
}
