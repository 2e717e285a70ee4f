import type { LogDamage, SessionRecord } from '../../contract/session/session-record.ts'
import type { SessionDigest } from '../../types/session/session-store.ts'
import { addStep, type DigestStep, emptyDigest, stepOf } from './digest.ts'
import { decodeLine, type LineDamage, type LinePlace } from './record-codec.ts'

/** What the lines of a log amount to. */
export interface LogReading {
  /** Those that count, after the cursor that was asked for. */
  records: SessionRecord[]
  /** What those up to that cursor amount to. */
  passed: SessionDigest
  /** The last `seq` that counts; 0 where none does. */
  reached: number
  /** The last `seq` that counts, or the cursor that was asked for where that is higher. */
  cursor: number
  /** Who wrote the last record that counts. */
  writer?: string
  /** Whether a record before the end is missing, perhaps one that was left out. */
  isBroken: boolean
  /** What does not count at the end, and why. Absent again once a later writer has gone on from there. */
  damage?: LogDamage
  /** Records that a newer writer did not go on from. Where a store refuses older writers, these are records it never said were stored. */
  replaced?: LogDamage
  /** Whether a line of a newer version is among them. */
  hasNewer: boolean
}

/** A record, the length of its line, and who wrote it. */
interface Counted {
  seq: number
  /** Absent up to the cursor: nobody asks for it, and a long log has no room beside what is asked for. */
  record?: SessionRecord
  /** What is left of it then. */
  step?: DigestStep
  chars: number
  writer: string
}

type Damage = LineDamage & { droppedChars: number }

/** The lines of one writer. */
interface Part {
  place: LinePlace
  /** Up to the first that is missing. */
  records: Counted[]
  /** Whether somebody has said something by then that is a title. */
  hasTitle: boolean
  /** Whether its last record is there, where it was stored as a whole; damage before that came later. */
  isEnded: boolean
  /** What else there is of it, and lines after its own that are no records. */
  dropped: LineDamage | undefined
  droppedChars: number
}

/** A part that counts, up to the `seq` before `end`. */
interface Link {
  part: Part
  end: number
  /** Whether the part that it goes on from is the link before it. */
  goesOn: boolean
}

/** The parts of a log, the newest first, and what stands before all of them. */
interface Parts {
  newestFirst: Part[]
  head: Part
  hasNewer: boolean
}

/**
 * What the lines of a log amount to, in time proportional to their length. Never throws, whatever they hold.
 *
 * **Contract**
 * - The newest writer counts, with what it went on from: the part of an older writer that it had read, and so on to the first record.
 *   What others wrote meanwhile does not count: when it was written they had been refused.
 * - A session that was stored as a whole counts when its last record is there, and not before: what was cut off while it was written is nothing.
 * - Of that, everything counts up to the first record that is missing or damaged. A line may be there twice.
 * - Lines up to `after` may be left out, where the caller has read them already. Only records after it are given.
 *
 * Source: docs/concepts/sessions.md
 */
export function readLog(lines: Iterable<string>, after = 0): LogReading {
  const reader = new LogReader(after)
  for (const line of lines) reader.add(line)
  return reader.end()
}

/** `readLog` for lines that come one after the other. Holds nothing of a line but its record. */
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
    // What is left of a line break says nothing: a record that is missing shows by its number.
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

  /** What the lines amount to. Nothing is added after that. */
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

/** The first reason is the cause of the others. An end is torn only when nothing but torn lines follows it. */
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

/** Whether this is a session stored as a whole of which something is missing. */
function isPartial({ place, records }: Part): boolean {
  return place.whole !== undefined && (lastOf(records) ?? 0) < place.whole
}

/** The newest part and what it went on from, the oldest first. */
function chainOf(newestFirst: readonly Part[], after: number): Link[] {
  const byWriter = new Map(newestFirst.map((part) => [part.place.writer, part]))
  const chain: Link[] = []
  // What was damaged later is better than nothing, but not better than the session it has replaced. What never came to its end is neither.
  let part = newestFirst.find((each) => !isPartial(each)) ?? newestFirst.find(({ isEnded }) => isEnded)
  let end = Number.POSITIVE_INFINITY
  let older = 0
  while (part !== undefined) {
    const { epoch, from, base, whole } = part.place
    const found: Part | undefined = byWriter.get(base ?? '')
    const isFound = found !== undefined && found.place.epoch < epoch
    chain.push({ part, end, goesOn: isFound || from === 1 })
    // Those up to the cursor may have been left out.
    if (whole !== undefined || (!isFound && from <= after + 1)) break
    // Where nothing can be read of what it went on from, what is before that can only be in older parts.
    while ((newestFirst[older]?.place.epoch ?? 0) >= epoch) older++
    part = isFound ? found : newestFirst[older]
    end = from
  }
  return chain.reverse()
}

/** The records of a chain up to the first that is missing, and what does not count for that reason. */
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

/** What does not count although nothing that counts comes after it. */
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

/** What is not on the chain although it was written after its first record. */
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
  const reason = `Two writers have written records from ${first} on. Those of the newer one count.`
  return { kind: 'forked', afterSeq: first - 1, droppedChars: sum(replaced, charsOf), reason }
}

function charsOf({ chars }: Counted): number {
  return chars
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
