import { type Scan, scanDocument, type Work } from './document.ts'

/** Longer arguments are not repaired: the model is told, and writes them again. */
const maxRepaired = 1_000_000
/** How often a text may be read from end to end, in all. */
const maxPasses = 8

/** More objects than this are no damage that is known. */
const maxReadings = 8

/** What a text that is no JSON may mean. */
export interface Readings {
  /** Every object that it may mean, as JSON. None where one of them is not clear. */
  texts: readonly string[]
  /** It may stop where more has to follow, so that nobody may complete it. */
  isOpen: boolean
}

/**
 * Finds all that broken arguments may mean.
 *
 * **Contract**
 * - Knows: an object with local damages (`scanDocument`), which may come in pieces that each repeat all before them, or several times, and behind `{}`.
 * - Each reading of these damages is among the objects, so the one that fits a schema is the one that was meant. An empty object that came first is a reading too.
 * - No objects where one may be cut: wherever an object may begin, it must not be open at the end of the text.
 * - Takes time in proportion to the length of `text`, whatever is in it.
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

/** Where empty objects at the start of `text` end. */
function emptyObjects(text: string): number[] {
  const ends: number[] = []
  const empty = /\{\s*\}\s*/y
  while (ends.length < 8 && empty.test(text)) ends.push(empty.lastIndex)
  return ends
}

/**
 * Whether what comes before `start` is made of beginnings of what begins there, behind empty objects if need be. Of an object that is open nobody
 * knows how it goes on, so a piece that is as long as all of it may be longer.
 */
function isPrecededByPieces(text: string, start: number, { scan, empties, work }: { scan: Scan; empties: number[]; work: Work }): boolean {
  if (start === 0 || empties.includes(start)) return true
  const common = commonPrefixes(text, start, work)
  // Too much work: the caller gives up.
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

/** For each place before `start`, how much of what begins at `start` stands there (Z function). `undefined`: that is too much work. */
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
