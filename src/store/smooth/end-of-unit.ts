/**
 * Returns the end of the unit in `text` that contains `index`, or the unit's start if the unit may still grow. `text` starts with a unit.
 */
export type EndOfUnit = (text: string, index: number) => number

/** Treats lines as units, including their line breaks. */
export function endOfLine(text: string, index: number): number {
  const end = text.indexOf('\n', index) + 1
  return end > 0 ? end : text.lastIndexOf('\n', index) + 1
}

/** Treats the segments of `segmenter` as units. */
export function endOfSegment(segmenter: Intl.Segmenter): EndOfUnit {
  return (text, index) => endAround(segmenter.segment(text), text, index, () => true)
}

/** Treats words as units, including adjacent punctuation and white space. Supports languages without spaces. */
export function endOfWord(): EndOfUnit {
  // Some runtimes lack `Intl.Segmenter`.
  if (Intl.Segmenter === undefined) return endOfSpacedWord
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' })
  return (text, index) => endAround(segmenter.segment(text), text, index, isBetweenWords)
}

/** Advances past segments that do not end a unit, and returns to the unit's start if the unit is incomplete. */
function endAround(segments: Intl.Segments, text: string, index: number, isEnd: (text: string, at: number) => boolean): number {
  const segment = segments.containing(index)
  let end = endOf(segment, text)
  while (end < text.length && !isEnd(text, end)) end = endOf(segments.containing(end), text)
  if (end < text.length) return end
  let start = segment?.index ?? 0
  while (start > 0 && !isEnd(text, start)) start = segments.containing(start - 1)?.index ?? 0
  return start
}

function endOf(segment: Intl.SegmentData | undefined, text: string): number {
  return segment === undefined ? text.length : segment.index + segment.segment.length
}

/** White space ends a word. Opening punctuation belongs to the next word, all other punctuation to the previous one. */
const betweenWords =
  /(?!\s)(?:(?<=\s)|(?<![\p{Ps}\p{Pi}]|(?:^|\s)[\p{P}\p{Sc}\p{Sk}\p{Sm}]{1,8})(?=[\p{Ps}\p{Pi}]|[^\p{P}\p{Sc}\p{Sk}\p{Sm}]))/uy

function isBetweenWords(text: string, at: number): boolean {
  betweenWords.lastIndex = at
  return betweenWords.test(text)
}

/** Matches the end of a word: white space, or an ideograph and its punctuation. */
const spacedWord =
  /(?:\s|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]\p{M}*(?:(?![\p{Ps}\p{Pi}])\p{P})*)(?=[\p{Ps}\p{Pi}]|[^\s\p{M}\p{P}\p{Cf}])/gu

/** Word units for runtimes without `Intl.Segmenter`. */
function endOfSpacedWord(text: string, index: number): number {
  let end = 0
  for (const match of text.matchAll(spacedWord)) {
    end = match.index + match[0].length
    if (end > index) break
  }
  return end
}
