/** A block that was streamed: its key, and its text. */
export interface StreamedPart {
  key: number
  text: string
}

/** A part as the finished item has it. */
export interface WholePart {
  /** Where it belongs among the parts of the item. */
  part: number
  text: string
}

/** Text that no delta brought: the rest of a block, or a part of its own. */
export interface MissingPart extends WholePart {
  /** The block that it goes on. */
  key?: number
}

/**
 * What a finished item says beyond its deltas.
 *
 * **Contract**
 * - Parts are told by their text, not by their number: services number deltas otherwise than the item that follows, or cut one part into
 *   several.
 * - Where deltas and item disagree, the deltas count: they were seen. A part is missing only if no streamed one can stand for it.
 */
export function missingParts(streamed: readonly StreamedPart[], whole: readonly WholePart[]): MissingPart[] {
  const parts = whole.filter(({ text }) => text !== '')
  const said = streamed.map(({ text }) => text).join('')
  const all = parts.map(({ text }) => text).join('')
  return all.startsWith(said) ? behind(said.length, parts, streamed.at(-1)?.key) : unmatched(streamed, parts)
}

/** What is left of `parts` behind their first `length` characters. */
function behind(length: number, parts: readonly WholePart[], last: number | undefined): MissingPart[] {
  const missing: MissingPart[] = []
  let skipped = length
  for (const { part, text } of parts) {
    const rest = text.slice(skipped)
    if (rest !== '') missing.push(rest === text || last === undefined ? { part, text } : { part, text: rest, key: last })
    skipped = Math.max(0, skipped - text.length)
  }
  return missing
}

function unmatched(streamed: readonly StreamedPart[], parts: readonly WholePart[]): MissingPart[] {
  const free = new Set(streamed)
  const alike = (text: string) => [...free].find((each) => each.text.startsWith(text) || text.startsWith(each.text))
  const missing: MissingPart[] = []
  const unlike: WholePart[] = []
  for (const { part, text } of parts) {
    const match = alike(text)
    if (match === undefined) unlike.push({ part, text })
    else {
      free.delete(match)
      if (text.length > match.text.length) missing.push({ part, text: text.slice(match.text.length), key: match.key })
    }
  }
  return [...missing, ...unlike.slice(free.size)]
}
