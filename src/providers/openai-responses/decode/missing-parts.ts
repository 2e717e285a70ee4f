/** A streamed block with its text. */
export interface StreamedPart {
  key: number
  text: string
}

/** A part of the finished item. */
export interface WholePart {
  /** Position among the item's parts. */
  part: number
  text: string
}

/** Text that no delta delivered: the rest of a block, or a new part. */
export interface MissingPart extends WholePart {
  /** Key of the block that the text continues. */
  key?: number
}

/**
 * Returns the text of a finished item that no delta delivered.
 *
 * **Contract**
 * - Matches parts by text, not by index, because providers number deltas differently or split parts.
 * - If deltas and the item differ, the deltas take precedence, because they were already emitted. A part is missing only if it matches no
 *   streamed part.
 */
export function missingParts(streamed: readonly StreamedPart[], whole: readonly WholePart[]): MissingPart[] {
  const parts = whole.filter(({ text }) => text !== '')
  const streamedText = streamed.map(({ text }) => text).join('')
  const all = parts.map(({ text }) => text).join('')
  return all.startsWith(streamedText) ? behind(streamedText.length, parts, streamed.at(-1)?.key) : unmatched(streamed, parts)
}

/** Returns the rest of `parts` after their first `length` characters. */
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
