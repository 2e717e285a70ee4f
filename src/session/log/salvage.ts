import { SessionError } from '../../contract/errors.ts'
import type { DroppedLine, SalvagedSession } from '../../types/session/session-store.ts'
import { sessionOf } from '../views/session-tree.ts'
import { type DecodedLine, decodeLine } from './record-codec.ts'

/** A valid line and its position. */
interface WholeLine extends DecodedLine {
  line: number
  chars: number
}

/** One writer's lines. */
interface Part {
  epoch: number
  writer: string
  base: string | undefined
  from: number
  /** For a session stored as a whole: its last `seq`. */
  whole: number | undefined
  lines: WholeLine[]
}

/** Boundary between two lines whose line break is damaged. */
const joint = /(?<="crc":"[0-9a-f]{8}"\}).?(?=\{"v":)/su

/**
 * Recovers every valid record of a log, including records after a damaged one, which `load` does not return.
 *
 * **Contract**
 * - `lines` are in stored order, as `LogDriver.read` returns them, and are not modified.
 * - With several writers, the newest writer and those that it continued from are valid. A session stored as a whole is valid if its end is
 *   present. `dropped` lists all other lines with position and reason.
 * - `session` may have gaps: loops without a beginning, results without calls. It can be saved and continued.
 * - Throws `SessionError` `newerSchema` for a log with lines of a newer format.
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
  if (decoded.kind === 'newerSchema') throw new SessionError('newerSchema', `${decoded.reason} Update phi-core to salvage this session.`)
  const pieces = text.split(joint).map((piece) => ({ piece, read: decodeLine(piece) }))
  const damaged = pieces.filter(({ read }) => 'kind' in read)
  const chars = damaged.reduce((sum, { piece }) => sum + piece.length, 0)
  if (chars > 0) dropped.push({ line, chars, reason: decoded.reason })
  return pieces.flatMap(({ piece, read }) => ('kind' in read ? [] : [{ ...read, line, chars: piece.length }]))
}

/** Returns the parts, newest first. */
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

/** Returns the valid lines in order, and adds the others to `dropped`. */
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
    // If the part that this one continues is lost, use the newest older part.
    const older = newestFirst.filter((each) => each.epoch < epoch)
    part = older.find((each) => each.writer === base) ?? older[0]
  }
  const reason = 'The line belongs to an abandoned writer or was replaced.'
  for (const { line, record, chars } of others) dropped.push({ line, seq: record.seq, chars, reason })
  return [...bySeq.values()].sort((a, b) => a.record.seq - b.record.seq)
}

/** Returns whether a session stored as a whole is incomplete. */
function isHalf({ whole, lines }: Part): boolean {
  return whole !== undefined && !lines.some(({ record }) => record.seq === whole)
}
