import type { LogDamage, SessionRecord } from '../types/session-record.ts'
import { decodeLine, type LineDamage, type LinePlace } from './record-codec.ts'

/** What the lines of a log amount to. */
export interface LogReading {
  /** Those that count, after the cursor that was asked for. */
  records: SessionRecord[]
  /** The last `seq` that counts, or the cursor that was asked for where that is higher. */
  cursor: number
  /** What does not count at the end, and why. Absent again once a later writer has gone on from there. */
  damage?: LogDamage
  /** Records that a newer writer has replaced. Where a store refuses older writers, these are records it never said were stored. */
  replaced?: LogDamage
  /** Whether a line of a newer version is among them. */
  hasNewer: boolean
}

/** A record that counts, and the length of its line. */
interface Counted {
  record: SessionRecord
  chars: number
}

/** The lines of one writer. */
interface Part {
  place: LinePlace
  /** Up to the first that is missing. */
  records: Counted[]
  /** What else there is of it, and lines after its own that are no records. */
  dropped: LineDamage | undefined
  droppedChars: number
}

/**
 * What the lines of a log amount to, in time proportional to their length. Never throws, whatever they hold.
 *
 * **Contract**
 * - The lines of one writer count up to the first that is missing or damaged. A line may be there twice.
 * - Writers count in the order of their epochs. The records of each replace what there is from its first `seq` on; one that does not begin
 *   within or directly after what counts so far does not count at all.
 * - Lines up to `after` may be left out, where the caller has read them already. Only records after it are given.
 *
 * Source: reference/reliability.md §2 "Concurrent writers".
 */
export function readLog(lines: readonly string[], after = 0): LogReading {
  const { parts, hasNewer } = partsOf(lines, after)
  const reading = new Fold(after)
  for (const part of parts) reading.add(part)
  return reading.result(hasNewer)
}

function partsOf(lines: readonly string[], after: number): { parts: Part[]; hasNewer: boolean } {
  const head = emptyPart({ epoch: 0, writer: '', from: 1, seq: 1 })
  const parts = new Map<string, Part>()
  let part = head
  let hasNewer = false
  for (const line of lines) {
    // What is left of a line break says nothing: a record that is missing shows by its number.
    if (line === '') continue
    const decoded = decodeLine(line)
    if ('kind' in decoded) {
      drop(part, decoded, line.length)
      continue
    }
    hasNewer ||= decoded.isNewer
    const { place, record } = decoded
    const key = `${place.epoch} ${place.writer}`
    part = parts.get(key) ?? emptyPart(place)
    parts.set(key, part)
    addLine(part, { record, chars: line.length }, after)
  }
  const inOrder = [head, ...parts.values()].sort((a, b) => a.place.epoch - b.place.epoch || (a.place.writer < b.place.writer ? -1 : 1))
  return { parts: inOrder, hasNewer }
}

function emptyPart(place: LinePlace): Part {
  return { place, records: [], dropped: undefined, droppedChars: 0 }
}

function addLine(part: Part, line: Counted, after: number): void {
  const { from } = part.place
  const { seq } = line.record
  const last = part.records.at(-1)?.record.seq
  if (last !== undefined && seq <= last) return
  const fits = last === undefined ? seq === from || (from <= after && seq === after + 1) : seq === last + 1
  if (fits) part.records.push(line)
  else drop(part, { kind: 'corrupt', reason: `Record ${last === undefined ? from : last + 1} is missing or damaged.` }, line.chars)
}

function drop(part: Part, damage: LineDamage, chars: number): void {
  part.dropped = part.dropped === undefined ? damage : bothOf(part.dropped, damage)
  part.droppedChars += chars
}

/** The first reason is the cause of the others. An end is torn only when nothing but torn lines follows it. */
function bothOf(first: LineDamage, second: LineDamage): LineDamage {
  return { kind: second.kind === 'torn' ? first.kind : second.kind, reason: first.reason }
}

/** What counts, as one writer after the other is added. */
class Fold {
  readonly #after: number
  #counted: Counted[] = []
  /** The last `seq` that counts. */
  #last: number
  #damage: (LineDamage & { droppedChars: number }) | undefined
  #replaced: LogDamage | undefined

  constructor(after: number) {
    this.#after = after
    this.#last = after
  }

  add({ place, records, dropped, droppedChars }: Part): void {
    const reason = this.#refusal(place, records)
    if (reason === undefined) this.#join(place, records)
    else this.#drop({ kind: place.whole === undefined ? 'corrupt' : 'torn', reason }, charsOf(records))
    if (dropped !== undefined) this.#drop(dropped, droppedChars)
  }

  result(hasNewer: boolean): LogReading {
    const records = this.#counted.map((each) => each.record).filter((record) => record.seq > this.#after)
    const reading: LogReading = { records, cursor: Math.max(this.#after, this.#last), hasNewer }
    if (this.#damage !== undefined) reading.damage = { ...this.#damage, afterSeq: this.#last }
    if (this.#replaced !== undefined) reading.replaced = this.#replaced
    return reading
  }

  /** Why these records do not count; undefined when they do, or when there are none. */
  #refusal({ whole, from }: LinePlace, records: readonly Counted[]): string | undefined {
    const end = records.at(-1)?.record.seq
    if (end === undefined) return undefined
    if (whole === undefined) return from <= this.#last + 1 ? undefined : `Record ${this.#last + 1} is missing or damaged.`
    // Half of a session is better than none, but not better than the one it was to replace.
    return end >= whole || this.#last === 0 ? undefined : `Record ${end + 1} of a session stored as a whole is missing or damaged.`
  }

  #join({ whole, from }: LinePlace, records: readonly Counted[]): void {
    const end = records.at(-1)?.record.seq
    if (end === undefined) {
      // Even if none of them can be read: their writer did not go on from what others wrote there.
      if (whole === undefined && from <= this.#last) this.#replaceFrom(from)
      return
    }
    // Whoever wrote these has seen what was wrong before them, and was told.
    this.#damage = undefined
    this.#replaceFrom(records[0]?.record.seq ?? from)
    if (whole !== undefined) this.#counted = []
    for (const each of records) this.#counted.push(each)
    this.#last = end
    if (whole !== undefined && end < whole) this.#drop({ kind: 'torn', reason: `Record ${end + 1} is missing or damaged.` }, 0)
  }

  #replaceFrom(start: number): void {
    const at = this.#counted.findIndex(({ record }) => record.seq >= start)
    if (at < 0) return
    const droppedChars = (this.#replaced?.droppedChars ?? 0) + charsOf(this.#counted.splice(at))
    const reason = `Two writers have written records from ${start} on. Those of the older one do not count.`
    this.#replaced = { kind: 'forked', afterSeq: this.#replaced?.afterSeq ?? start - 1, droppedChars, reason }
    this.#last = start - 1
  }

  #drop(damage: LineDamage, chars: number): void {
    const { kind, reason } = this.#damage === undefined ? damage : bothOf(this.#damage, damage)
    this.#damage = { kind, reason, droppedChars: (this.#damage?.droppedChars ?? 0) + chars }
  }
}

function charsOf(lines: readonly Counted[]): number {
  return lines.reduce((sum, { chars }) => sum + chars, 0)
}
