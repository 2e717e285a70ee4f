const opening = '<think>'
const closing = '</think>'
/** Most characters of space that belong to a tag. */
const most = 8

/** What a reader of tags hands on. */
export interface ThinkTagParts {
  /** Reasoning has begun; `before` is what stood in front of it. */
  begins(before: string): void
  thinking(text: string): void
  /** Reasoning has ended; `after` is what stood behind it. */
  ends(after: string): void
  text(text: string): void
}

/**
 * Takes a leading `<think>…</think>` out of the text of a response, however the text is cut. Every other tag stays in the text.
 *
 * **Contract**
 * - Spaces around both tags belong to them. Empty reasoning is left out.
 * - `end` hands on what was held back; reasoning without an end is reasoning.
 */
export class ThinkTags {
  readonly #parts: ThinkTagParts
  #at: 'start' | 'opened' | 'thinking' | 'closed' | 'text' = 'start'
  /** What may still be of a tag. */
  #held = ''
  #before = ''
  #after = ''

  constructor(parts: ThinkTagParts) {
    this.#parts = parts
  }

  /** Everything that follows is text. */
  get isOver(): boolean {
    return this.#at === 'text'
  }

  /** Reads more of the text. */
  push(text: string): void {
    this.#held += text
    if (this.#at === 'start') this.#start()
    if (this.#at === 'opened') this.#begin()
    if (this.#at === 'thinking') this.#think()
    if (this.#at === 'closed') this.#close()
    if (this.#at === 'text') this.#release()
  }

  /** The text is over, or something else follows it. */
  end(): void {
    if (this.#at === 'thinking') this.#parts.thinking(this.#held)
    else if (this.#at === 'closed') this.#finish(this.#held)
    else if (this.#at === 'opened') this.#held = this.#before + this.#held
    if (this.#at === 'start' || this.#at === 'opened') this.#release()
    this.#held = ''
    this.#at = 'text'
  }

  #start(): void {
    const space = spaceAt(this.#held)
    const rest = this.#held.slice(space)
    if (rest.startsWith(opening)) {
      this.#before = this.#take(space + opening.length)
      this.#at = 'opened'
    } else if (!opening.startsWith(rest)) this.#at = 'text'
  }

  /** The first character of reasoning decides whether there is any. */
  #begin(): void {
    const space = spaceAt(this.#held)
    const rest = this.#held.slice(space)
    if (rest.startsWith(closing)) {
      this.#take(space + closing.length)
      this.#before = ''
      this.#at = 'closed'
    } else if (!closing.startsWith(rest)) {
      this.#before += this.#take(space)
      this.#parts.begins(this.#before)
      this.#at = 'thinking'
    }
  }

  #think(): void {
    const end = this.#held.indexOf(closing)
    const upTo = beforeSpace(this.#held, end < 0 ? partOfClosing(this.#held) : end)
    if (upTo > 0) this.#parts.thinking(this.#take(upTo))
    if (end < 0) return
    this.#after = this.#take(this.#held.indexOf(closing) + closing.length)
    this.#at = 'closed'
  }

  #close(): void {
    const space = spaceAt(this.#held)
    if (space === this.#held.length && space < most) return
    this.#finish(this.#take(space))
    this.#at = 'text'
  }

  #finish(space: string): void {
    if (this.#before !== '') this.#parts.ends(this.#after + space)
  }

  #release(): void {
    if (this.#held !== '') this.#parts.text(this.#take(this.#held.length))
  }

  #take(length: number): string {
    const taken = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    return taken
  }
}

/** How many characters of space `text` begins with. */
function spaceAt(text: string): number {
  let at = 0
  while (at < most && at < text.length && isSpace(text.charCodeAt(at))) at++
  return at
}

/** Where the space in front of `end` begins. */
function beforeSpace(text: string, end: number): number {
  let at = end
  while (at > 0 && end - at < most && isSpace(text.charCodeAt(at - 1))) at--
  return at
}

/** Where the end of `text` may be the beginning of the closing tag. */
function partOfClosing(text: string): number {
  const at = text.lastIndexOf('<')
  return at >= 0 && closing.startsWith(text.slice(at)) ? at : text.length
}

function isSpace(code: number): boolean {
  return code === 10 || code === 13 || code === 32
}
