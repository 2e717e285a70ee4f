import type { TextRange } from '../../../contract/message/content.ts'

/** Where a segment of an answer lies, as the service says it: in bytes of UTF-8, of the whole text or of one part of it. */
export interface Segment {
  start: number
  end: number
  /** The text it says that it covers. */
  said: string
  part: number
}

/** How many segments are looked for in the text because their place does not fit: each look reads all of it. */
const maxSearches = 200

/**
 * Segments as ranges of `text`, in UTF-16 units, in one walk over the text.
 *
 * **Contract**
 * - A segment may count from the beginning of its part (`partStarts`, by the number of the part) or of the whole text: what it says of its text decides.
 *   Where it says nothing, a part other than the first counts from its own beginning.
 * - A segment whose place does not fit what it says is where that text stands first.
 * - A segment that ends behind the text, and says nothing that stands in it, has no range.
 */
export function segmentRanges(
  segments: readonly Segment[],
  text: string,
  partStarts: readonly (number | undefined)[],
): (TextRange | undefined)[] {
  // Most answers rest on nothing.
  if (segments.length === 0) return []
  const firstByte = byteOffsets(text, new Set(partStarts.filter((start) => start !== undefined)))
  const baseOf = ({ part }: Segment) => firstByte.get(partStarts[part] ?? 0) ?? 0
  const wanted = segments.flatMap((segment) => [0, baseOf(segment)].flatMap((base) => [base + segment.start, base + segment.end]))
  const units = unitOffsets(text, wanted)
  let searches = 0
  return segments.map((segment) => {
    const { start, end, said, part } = segment
    const from = (base: number): TextRange | undefined => {
      const [first, last] = [units.get(base + start), units.get(base + end)]
      return first === undefined || last === undefined || first > last ? undefined : { start: first, end: last }
    }
    const own = from(baseOf(segment))
    const whole = from(0)
    if (said === '') return part > 0 ? own : whole
    const fitting = [own, whole].find((range) => range !== undefined && text.slice(range.start, range.end) === said)
    if (fitting !== undefined) return fitting
    const at = searches++ < maxSearches ? text.indexOf(said) : -1
    return at === -1 ? whole : { start: at, end: at + said.length }
  })
}

/** The bytes of UTF-8 before each of `units`. */
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

/** The UTF-16 units before each of `bytes`; where one lies inside of a character, those up to it. One behind the text has none. */
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
