import { SessionError } from '../../contract/errors.ts'
import type { DroppedLine, SalvagedSession } from '../../types/session/session-store.ts'
import { sessionOf } from '../views/session-tree.ts'
import { type DecodedLine, decodeLine } from './record-codec.ts'

/** A line that is whole, and where it stood. */
interface WholeLine extends DecodedLine {
  line: number
  chars: number
}

/** The lines of one writer. */
interface Part {
  epoch: number
  writer: string
  base: string | undefined
  from: number
  /** In a session that was stored as a whole: its last `seq`. */
  whole: number | undefined
  lines: WholeLine[]
}

/** Where two lines may have become one: the line break between them is damaged. */
const joint = /(?<="crc":"[0-9a-f]{8}"\}).?(?=\{"v":)/su

/**
 * Every record of a log that is whole, also those behind a damaged one: for a person who wants back what `load` does not give.
 *
 * **Contract**
 * - `lines` are in the order in which they were stored, as `LogDriver.read` gives them. Nothing is changed.
 * - If there were several writers, those count that the newest one went on from, as everywhere; a session that was stored as a whole counts where its end
 *   is there. What does not count is in `dropped`, by position, with its reason. Nothing is put in place of it.
 * - `session` may have gaps: loops without a beginning, results without their calls. It can be saved and gone on from.
 * - Throws `SessionError` `newerSchema` for a log with lines that only a newer version can read.
 *
 * Source: docs/concepts/sessions.md
 */
export function salvageSession(lines: readonly string[], sessionId: string): SalvagedSession {
  const dropped: DroppedLine[] = []
  const whole = lines.filter((line) => line !== '').flatMap((line, index) => wholeLines(line, index, dropped))
  const counted = countedLines(partsOf(whole), new Set(whole), dropped)
  const records = counted.map(({ record }) => record)
  return { session: sessionOf(records, sessionId), records, dropped: dropped.sort((a, b) => a.line - b.line) }
}

function wholeLines(text: string, line: number, dropped: DroppedLine[]): WholeLine[] {
  const decoded = decodeLine(text)
  if (!('kind' in decoded)) return [{ ...decoded, line, chars: text.length }]
  if (decoded.kind === 'newerSchema') throw new SessionError('newerSchema', `${decoded.reason} Update it to salvage this session.`)
  const pieces = text.split(joint).map((piece) => ({ piece, read: decodeLine(piece) }))
  const damaged = pieces.filter(({ read }) => 'kind' in read)
  const chars = damaged.reduce((sum, { piece }) => sum + piece.length, 0)
  if (chars > 0) dropped.push({ line, chars, reason: decoded.reason })
  return pieces.flatMap(({ piece, read }) => ('kind' in read ? [] : [{ ...read, line, chars: piece.length }]))
}

/** The newest first. */
function partsOf(lines: readonly WholeLine[]): Part[] {
  const parts = new Map<string, Part>()
  for (const line of lines) {
    const { epoch, writer, base, from } = line.place
    const key = `${epoch} ${writer}`
    const part = parts.get(key) ?? { epoch, writer, base, from, whole: undefined, lines: [] }
    part.whole ??= line.place.whole
    part.lines.push(line)
    parts.set(key, part)
  }
  return [...parts.values()].sort((a, b) => b.epoch - a.epoch || (a.writer < b.writer ? 1 : -1))
}

/** The lines that count, in their order. Others go to `dropped`. */
function countedLines(newestFirst: readonly Part[], others: Set<WholeLine>, dropped: DroppedLine[]): WholeLine[] {
  const bySeq = new Map<number, WholeLine>()
  let end = Number.POSITIVE_INFINITY
  let part = newestFirst.find((each) => !isHalf(each)) ?? newestFirst[0]
  while (part !== undefined) {
    const { epoch, base, from, whole } = part
    for (const line of part.lines) {
      const { seq } = line.record
      if (seq >= end) continue
      others.delete(line)
      if (!bySeq.has(seq)) bySeq.set(seq, line)
    }
    if (whole !== undefined) break
    end = Math.min(end, from)
    // Where nothing is left of what it went on from, older parts are the best there is.
    const older = newestFirst.filter((each) => each.epoch < epoch)
    part = older.find((each) => each.writer === base) ?? older[0]
  }
  const reason = 'It was written by a writer that others did not go on from, or was replaced.'
  for (const { line, record, chars } of others) dropped.push({ line, seq: record.seq, chars, reason })
  return [...bySeq.values()].sort((a, b) => a.record.seq - b.record.seq)
}

/** A session stored as a whole whose end never came. */
function isHalf({ whole, lines }: Part): boolean {
  return whole !== undefined && !lines.some(({ record }) => record.seq === whole)
}
