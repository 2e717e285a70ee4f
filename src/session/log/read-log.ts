import type { LogDamage, SessionRecord } from '../../contract/session/session-record.ts'
import type { SessionDigest } from '../../types/session/session-store.ts'
import { addStep, type DigestStep, emptyDigest, stepOf } from './digest.ts'
import { decodeLine, type LineDamage, type LinePlace } from './record-codec.ts'

/** Result of reading a log. */
export interface LogReading {
  /** Valid records after the requested cursor. */
  records: SessionRecord[]
  /** Digest of the records up to the cursor. */
  passed: SessionDigest
  /** The last valid `seq`, or 0 if there is none. */
  reached: number
  /** The last valid `seq`, or the requested cursor if that is higher. */
  cursor: number
  /** Writer of the last valid record. */
  writer?: string
  /** Whether a record before the end is missing or was skipped. */
  isBroken: boolean
  /** Invalid lines at the end, with reasons. Absent if a later writer has continued the log. */
  damage?: LogDamage
  /** Records that a newer writer did not continue from. If the store refuses older writers, these records were never acknowledged. */
  replaced?: LogDamage
  /** Whether a line is in a newer format. */
  hasNewer: boolean
}

/** A record with its line length and writer. */
interface Counted {
  seq: number
  /** The record. Absent up to the cursor, to save memory. */
  record?: SessionRecord
  /** The record's contribution to the digest, if the record itself is absent. */
  step?: DigestStep
  chars: number
  writer: string
}

type Damage = LineDamage & { droppedChars: number }

/** The lines of one writer. */
interface Part {
  place: LinePlace
  /** Records up to the first missing one. */
  records: Counted[]
  /** Whether a title could be derived from these records. */
  hasTitle: boolean
  /** For a session that was stored as a whole: whether its last record is present, so that any damage happened later. */
  isEnded: boolean
  /** The part's other lines, and later lines that are not records. */
  dropped: LineDamage | undefined
  droppedChars: number
}

/** A valid part, up to the `seq` before `end`. */
interface Link {
  part: Part
  end: number
  /** Whether the previous link is the part that this part continues. */
  goesOn: boolean
}

/** The valid parts of a log, newest first, and earlier records. */
interface Parts {
  newestFirst: Part[]
  head: Part
  hasNewer: boolean
}

/**
 * Reads the lines of a log in linear time. Never throws, whatever the lines contain.
 *
 * **Contract**
 * - The newest writer's lines are valid, as is the chain of older parts that this writer had read. Concurrent lines from other writers are
 *   invalid, because those writers were fenced off.
 * - A session stored as a whole is valid once its last record is present. An incomplete session is ignored.
 * - Records of the chain are valid up to the first missing or damaged one. Duplicate lines are allowed.
 * - `lines` may omit those up to `after`. The result contains only later records.
 *
 * Source: docs/concepts/sessions.md
 */
export function readLog(lines: Iterable<string>, after = 0): LogReading {
  const reader = new LogReader(after)
  for (const line of lines) reader.add(line)
  return reader.end()
}

/** Incremental `readLog`: processes one line at a time and keeps only its record. */
export class LogReader {
  readonly #after: number
  readonly #head = emptyPart({ epoch: 0, writer: '', from: 1, seq: 1 })
  readonly #parts = new Map<string, Part>()
  #part = this.#head
  #hasNewer = false

  constructor(after: number) {
    this.#after = after
  }

  add(line: string): void {
    // Skip empty lines. A missing record is detected by its number.
    if (line === '' || line === '\r') return
    const decoded = decodeLine(line)
    if ('kind' in decoded) {
      this.#hasNewer ||= decoded.kind === 'newerSchema'
      drop(this.#part, decoded, line.length)
      return
    }
    this.#hasNewer ||= decoded.isNewer
    const { place, record } = decoded
    if (place.epoch !== this.#part.place.epoch || place.writer !== this.#part.place.writer) {
      const key = `${place.epoch} ${place.writer}`
      this.#part = this.#parts.get(key) ?? emptyPart(place)
      this.#parts.set(key, this.#part)
    }
    const counted: Counted = { seq: record.seq, chars: line.length, writer: this.#part.place.writer }
    if (record.seq > this.#after) counted.record = record
    else {
      counted.step = stepOf(record, this.#part.hasTitle)
      this.#part.hasTitle ||= counted.step.title !== undefined
    }
    addLine(this.#part, counted, this.#after)
  }

  /** Returns the result. No lines may be added after that. */
  end(): LogReading {
    const newestFirst = [...this.#parts.values()].sort(
      (a, b) => b.place.epoch - a.place.epoch || (a.place.writer < b.place.writer ? 1 : -1),
    )
    return readingOf({ newestFirst, head: this.#head, hasNewer: this.#hasNewer }, this.#after)
  }
}

function readingOf(parts: Parts, after: number): LogReading {
  const chain = chainOf(parts.newestFirst, after)
  const { counted, lost } = follow(chain, after)
  const last = counted.at(-1)
  const reading: LogReading = {
    records: counted.flatMap(({ record }) => record ?? []),
    passed: counted.reduce((digest, { step }) => (step === undefined ? digest : addStep(digest, step)), emptyDigest),
    reached: last?.seq ?? 0,
    cursor: Math.max(after, last?.seq ?? 0),
    isBroken: lost !== undefined,
    hasNewer: parts.hasNewer,
  }
  if (last !== undefined) reading.writer = last.writer
  const damage = lost ?? damagedEnd(parts, chain.at(-1)?.part)
  if (damage !== undefined) reading.damage = { ...damage, afterSeq: reading.cursor }
  const replaced = replacedBy(chain, parts.newestFirst)
  if (replaced !== undefined) reading.replaced = replaced
  return reading
}

function emptyPart(place: LinePlace): Part {
  return { place, records: [], hasTitle: false, isEnded: false, dropped: undefined, droppedChars: 0 }
}

function addLine(part: Part, line: Counted, after: number): void {
  const { from, whole } = part.place
  const { seq } = line
  if (seq === whole) part.isEnded = true
  const last = lastOf(part.records)
  if (last !== undefined && seq <= last) return
  const fits = last === undefined ? seq === from || (from <= after && seq <= after + 1) : seq === last + 1
  if (fits) part.records.push(line)
  else drop(part, missing(last === undefined ? from : last + 1), line.chars)
}

function drop(part: Part, damage: LineDamage, chars: number): void {
  part.dropped = part.dropped === undefined ? damage : bothOf(part.dropped, damage)
  part.droppedChars += chars
}

/** Merges damage reports and keeps the first reason, which caused the others. An end is torn only if all lines after it are torn. */
function bothOf(first: LineDamage, second: LineDamage): LineDamage {
  const newer = [first, second].find(({ kind }) => kind === 'newerSchema')
  if (newer !== undefined) return newer
  return { kind: second.kind === 'torn' ? first.kind : second.kind, reason: first.reason }
}

function missing(seq: number): LineDamage {
  return { kind: 'corrupt', reason: `Record ${seq} is missing or damaged.` }
}

function lastOf(records: readonly Counted[]): number | undefined {
  return records.at(-1)?.seq
}

/** Returns whether a session stored as a whole is incomplete. */
function isPartial({ place, records }: Part): boolean {
  return place.whole !== undefined && (lastOf(records) ?? 0) < place.whole
}

/** Returns the newest part with the parts that it builds on, oldest first. */
function chainOf(newestFirst: readonly Part[], after: number): Link[] {
  const byWriter = new Map(newestFirst.map((part) => [part.place.writer, part]))
  const chain: Link[] = []
  // Prefer a complete part, then a part that was damaged later, then a part that never ended.
  let part = newestFirst.find((each) => !isPartial(each)) ?? newestFirst.find(({ isEnded }) => isEnded)
  let end = Number.POSITIVE_INFINITY
  let older = 0
  while (part !== undefined) {
    const { epoch, from, base, whole } = part.place
    const found: Part | undefined = byWriter.get(base ?? '')
    const isFound = found !== undefined && found.place.epoch < epoch
    chain.push({ part, end, goesOn: isFound || from === 1 })
    // Lines up to the cursor may have been omitted.
    if (whole !== undefined || (!isFound && from <= after + 1)) break
    // If its base cannot be read, earlier records can only be in older parts.
    while ((newestFirst[older]?.place.epoch ?? 0) >= epoch) older++
    part = isFound ? found : newestFirst[older]
    end = from
  }
  return chain.reverse()
}

/** Returns the records of a chain up to the first missing one, and the reason why the rest is invalid. */
function follow(chain: readonly Link[], after: number): { counted: Counted[]; lost?: Damage } {
  const counted: Counted[] = []
  for (const [index, { part, end, goesOn }] of chain.entries()) {
    const last = Math.max(after, counted.at(-1)?.seq ?? 0)
    const { from, whole } = part.place
    if (whole === undefined && (from > last + 1 || (index > 0 && !goesOn))) {
      const before = chain[index - 1]?.part
      const rest = chain.slice(index).map((link) => link.part)
      const droppedChars = (before?.droppedChars ?? 0) + sum(rest, (each) => each.droppedChars + sum(each.records, charsOf))
      const cause = before?.dropped ?? missing(last + 1)
      return { counted, lost: { kind: cause.kind === 'newerSchema' ? cause.kind : 'corrupt', reason: cause.reason, droppedChars } }
    }
    for (const each of part.records) if (each.seq < end) counted.push(each)
  }
  return { counted }
}

/** Returns the invalid lines after the last valid record. */
function damagedEnd({ newestFirst, head }: Parts, tip = head): Damage | undefined {
  const ends = newestFirst.filter((part) => isPartial(part) && part.place.epoch >= tip.place.epoch)
  if (tip.dropped !== undefined) ends.push(tip)
  let damage: Damage | undefined
  for (const part of new Set(ends)) {
    const next = missing((lastOf(part.records) ?? part.place.from - 1) + 1)
    const reason: LineDamage = part.dropped ?? { ...next, kind: 'torn' }
    const chars = part.droppedChars + (part === tip ? 0 : sum(part.records, charsOf))
    damage = { ...(damage === undefined ? reason : bothOf(damage, reason)), droppedChars: (damage?.droppedChars ?? 0) + chars }
  }
  return damage
}

/** Returns records outside the chain that were written after its first record. */
function replacedBy(chain: readonly Link[], parts: readonly Part[]): LogDamage | undefined {
  const root = chain[0]?.part.place
  const since = root?.whole === undefined ? 0 : root.from
  const ends = new Map(chain.map((link) => [link.part, link.end]))
  const replaced = parts.flatMap((part) => {
    const start = Math.max(since, ends.get(part) ?? 0)
    return isPartial(part) ? [] : part.records.filter(({ seq }) => seq >= start)
  })
  if (replaced.length === 0) return undefined
  const first = replaced.reduce((least, { seq }) => Math.min(least, seq), Number.POSITIVE_INFINITY)
  const reason = `Two writers wrote records from ${first} on. The newer writer's records are used.`
  return { kind: 'forked', afterSeq: first - 1, droppedChars: sum(replaced, charsOf), reason }
}

function charsOf({ chars }: Counted): number {
  return chars
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
