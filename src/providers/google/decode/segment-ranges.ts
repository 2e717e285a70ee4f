import type { TextRange } from '../../../contract/message/content.ts'

/** Position of a segment as reported by the API, in UTF-8 bytes of the whole text or of one part. */
export interface Segment {
  start: number
  end: number
  /** The segment's text as reported by the API. */
  quote: string
  part: number
}

/** Maximum text searches for segments with a wrong position, because each search reads the whole text. */
const maxSearches = 200

/**
 * Converts segments to ranges of `text` in UTF-16 units, in one pass.
 *
 * **Contract**
 * - A segment's position is relative to its part (`partStarts`, by part index) or to the whole text. The segment's text decides between the
 *   two. Without text, positions in parts other than the first are relative to the part.
 * - If a segment's position does not match its text, uses the first occurrence of the text.
 * - A segment that ends beyond the text, and whose text does not occur, has no range.
 */
export function segmentRanges(
  segments: readonly Segment[],
  text: string,
  partStarts: readonly (number | undefined)[],
): (TextRange | undefined)[] {
  // Most responses have no sources.
  if (segments.length === 0) return []
  const firstByte = byteOffsets(text, new Set(partStarts.filter((start) => start !== undefined)))
  const baseOf = ({ part }: Segment) => firstByte.get(partStarts[part] ?? 0) ?? 0
  const wanted = segments.flatMap((segment) => [0, baseOf(segment)].flatMap((base) => [base + segment.start, base + segment.end]))
  const units = unitOffsets(text, wanted)
  let searches = 0
  return segments.map((segment) => {
    const { start, end, quote, part } = segment
    const from = (base: number): TextRange | undefined => {
      const [first, last] = [units.get(base + start), units.get(base + end)]
      return first === undefined || last === undefined || first > last ? undefined : { start: first, end: last }
    }
    const own = from(baseOf(segment))
    const whole = from(0)
    if (quote === '') return part > 0 ? own : whole
    const fitting = [own, whole].find((range) => range !== undefined && text.slice(range.start, range.end) === quote)
    if (fitting !== undefined) return fitting
    const at = searches++ < maxSearches ? text.indexOf(quote) : -1
    return at === -1 ? whole : { start: at, end: at + quote.length }
  })
}

/** Maps UTF-16 offsets to UTF-8 byte offsets. */
function byteOffsets(text: string, units: ReadonlySet<number>): Map<number, number> {
  const found = new Map<number, number>()
  if (units.size === 0) return found
  let byte = 0
  for (let unit = 0; unit <= text.length; unit += unitsAt(text, unit)) {
    if (units.has(unit)) found.set(unit, byte)
    byte += bytesAt(text, unit)
  }
  return found
}

/** Maps UTF-8 byte offsets to UTF-16 offsets, rounded down to a character. Omits offsets beyond the text. */
function unitOffsets(text: string, bytes: readonly number[]): Map<number, number> {
  const found = new Map<number, number>()
  let unit = 0
  let byte = 0
  for (const wanted of bytes.toSorted((a, b) => a - b)) {
    while (unit < text.length && byte + bytesAt(text, unit) <= wanted) {
      byte += bytesAt(text, unit)
      unit += unitsAt(text, unit)
    }
    if (unit < text.length || byte === wanted) found.set(wanted, unit)
  }
  return found
}

function unitsAt(text: string, unit: number): number {
  return (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1
}

function bytesAt(text: string, unit: number): number {
  const point = text.codePointAt(unit) ?? 0
  if (point > 0xffff) return 4
  if (point > 0x7ff) return 3
  return point > 0x7f ? 2 : 1
}
