import { type Scan, scanDocument, type Work } from './document.ts'

/** Maximum length of arguments to repair. For longer arguments, the model gets an error. */
const maxRepaired = 1_000_000
/** Maximum number of passes over a text. */
const maxPasses = 8

/** Maximum number of candidate objects. No known defect produces more. */
const maxReadings = 8

/** Possible meanings of invalid JSON. */
export interface Readings {
  /** All possible objects as JSON. Empty if one is ambiguous. */
  texts: readonly string[]
  /** Whether the text may be truncated. Truncated arguments must not be completed. */
  isOpen: boolean
}

/**
 * Finds all possible meanings of invalid arguments.
 *
 * **Contract**
 * - Supports one object with local defects (`scanDocument`). The object may arrive in pieces that each repeat all earlier text, several
 *   times, or after `{}`.
 * - Returns every possible meaning, including a leading empty object. The caller accepts a meaning if no other one matches the schema.
 * - Returns no meanings if an object is still open at the end of the text, because it may be truncated.
 * - Runs in linear time for any input.
 */
export function readingsOf(text: string): Readings {
  const trimmed = text.trim()
  if (trimmed === '') return { texts: [], isOpen: true }
  const work = { left: text.length > maxRepaired ? 0 : maxPasses * trimmed.length + 1000 }
  const isOpen = scanDocument(trimmed, 0, work).kind === 'open'
  const none = { texts: [], isOpen }
  if (isOpen || work.left < 0) return none
  const empties = emptyObjects(trimmed)
  const found = new Set<string>()
  for (const { index: at } of trimmed.matchAll(/\{|(?<!`)```/g)) {
    const scan = scanDocument(trimmed, at, work)
    const counts = scan.kind !== 'broken' && isPrecededByPieces(trimmed, at, { scan, empties, work })
    if (work.left < 0) return none
    if (!counts) continue
    if (scan.kind === 'open') return { texts: [], isOpen: true }
    if (scan.kind !== 'whole' || scan.fixed === undefined || found.size === maxReadings) return none
    found.add(scan.fixed)
  }
  if (found.size > 0 && empties.length > 0) found.add('{}')
  return { texts: [...found], isOpen }
}

/** Finds the empty objects at the start of `text`, and returns their end indexes. */
function emptyObjects(text: string): number[] {
  const ends: number[] = []
  const empty = /\{\s*\}\s*/y
  while (ends.length < 8 && empty.test(text)) ends.push(empty.lastIndex)
  return ends
}

/**
 * Returns whether the text before `start` consists of prefixes of the text at `start`, possibly after empty objects. If the object is open,
 * a piece as long as the rest of the text may continue beyond it.
 */
function isPrecededByPieces(text: string, start: number, { scan, empties, work }: { scan: Scan; empties: number[]; work: Work }): boolean {
  if (start === 0 || empties.includes(start)) return true
  const common = commonPrefixes(text, start, work)
  // The work limit is reached, so the caller stops.
  if (common === undefined) return false
  let reach = empties.at(-1) ?? 0
  for (let at = 0; at < start && at <= reach; at++) {
    const shared = common[at] ?? 0
    if (scan.kind === 'open' && shared === text.length - start) return true
    const isBetween = at === reach && /\s/.test(text.charAt(at))
    reach = Math.max(reach, isBetween ? at + 1 : at + shared)
  }
  return reach >= start
}

/**
 * For each position before `start`, returns the length of the common prefix with the text at `start` (Z function). `undefined` if the work
 * limit is reached.
 */
function commonPrefixes(text: string, start: number, work: Work): Int32Array | undefined {
  const length = text.length - start
  work.left -= text.length
  if (work.left < 0) return undefined
  const own = prefixesOf(length, (at) => text.charCodeAt(start + at))
  const found = new Int32Array(start)
  let left = 0
  let right = 0
  for (let at = 0; at < start; at++) {
    let shared = at < right ? Math.min(right - at, own[at - left] ?? 0) : 0
    while (shared < length && at + shared < text.length && text.charCodeAt(at + shared) === text.charCodeAt(start + shared)) shared++
    if (at + shared > right) {
      left = at
      right = at + shared
    }
    found[at] = shared
  }
  return found
}

function prefixesOf(length: number, codeAt: (at: number) => number): Int32Array {
  const own = new Int32Array(length)
  own[0] = length
  let left = 0
  let right = 0
  for (let at = 1; at < length; at++) {
    let shared = at < right ? Math.min(right - at, own[at - left] ?? 0) : 0
    while (at + shared < length && codeAt(at + shared) === codeAt(shared)) shared++
    if (at + shared > right) {
      left = at
      right = at + shared
    }
    own[at] = shared
  }
  return own
}
