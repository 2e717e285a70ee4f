const opening = '<think>'
const closing = '</think>'
/** Maximum characters of white space that belong to a tag. */
const most = 8

/** Receives a text's parts. */
export interface ThinkTagParts {
  /** Called when reasoning begins, after the text `before`. */
  begins(before: string): void
  thinking(text: string): void
  /** Called when reasoning ends. The text `after` follows it. */
  ends(after: string): void
  text(text: string): void
}

/**
 * Extracts a leading `<think>…</think>` from a streamed text. Leaves other tags in the text.
 *
 * **Contract**
 * - White space around the tags is part of them. Drops empty reasoning.
 * - `end` flushes buffered text. Text after an unclosed `<think>` is reasoning.
 */
export class ThinkTags {
  readonly #parts: ThinkTagParts
  #at: 'start' | 'opened' | 'thinking' | 'closed' | 'text' = 'start'
  /** Buffered text that may belong to a tag. */
  #held = ''
  #before = ''
  #after = ''

  constructor(parts: ThinkTagParts) {
    this.#parts = parts
  }

  /** Whether the rest is plain text. */
  get isOver(): boolean {
    return this.#at === 'text'
  }

  /** Reads a chunk of text. */
  push(text: string): void {
    this.#held += text
    if (this.#at === 'start') this.#start()
    if (this.#at === 'opened') this.#begin()
    if (this.#at === 'thinking') this.#think()
    if (this.#at === 'closed') this.#close()
    if (this.#at === 'text') this.#release()
  }

  /** Ends the text. */
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

  /** Starts reasoning at its first character, so that empty reasoning is dropped. */
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

/** Counts the leading white space of `text`. */
function spaceAt(text: string): number {
  let at = 0
  while (at < most && at < text.length && isSpace(text.charCodeAt(at))) at++
  return at
}

/** Returns the start of the white space before `end`. */
function beforeSpace(text: string, end: number): number {
  let at = end
  while (at > 0 && end - at < most && isSpace(text.charCodeAt(at - 1))) at--
  return at
}

/** Returns how many characters at the end of `text` may start the closing tag. */
function partOfClosing(text: string): number {
  const at = text.lastIndexOf('<')
  return at >= 0 && closing.startsWith(text.slice(at)) ? at : text.length
}

function isSpace(code: number): boolean {
  return code === 10 || code === 13 || code === 32
}
