import type { SessionRecord } from '../../contract/session/session-record.ts'
import type { JournaledConversation } from '../../types/session/journal.ts'
import type { CaughtUp } from '../../types/session/session-store.ts'
import { type ResumableSnapshot, snapshotOf } from '../views/snapshot-of.ts'
import type { HistoryEnds } from './history-ends.ts'

/** The part of a log that this process knows. */
export interface KnownLog {
  /** The last `seq` at the previous takeover. Later records that this writer did not write come from other processes. */
  seq: number
  epoch?: number | undefined
  /** Epoch of this process's writer. */
  writer?: number | undefined
  ends: HistoryEnds
}

/** A conversation's current state. */
interface Found {
  caughtUp: CaughtUp
  /** The conversation's state in the log. Absent if the history is independent of the log. */
  snapshot?: ResumableSnapshot
  /** Whether this is the first notification about this loop. */
  isFirst: boolean
}

/** Records from other writers after a takeover, for the conversations that continue. */
export class Missed {
  /** Known state before these records. */
  readonly known: KnownLog
  /** Whether these records were not reported to any conversation yet. */
  isUnreported = true
  readonly #sessionId: string
  readonly #records: readonly SessionRecord[]
  readonly #snapshots = new Map<string | undefined, ResumableSnapshot>()

  constructor(sessionId: string, records: readonly SessionRecord[], known: KnownLog) {
    this.#sessionId = sessionId
    this.#records = records
    this.known = known
  }

  /**
   * Returns the current state of a conversation that continues from `loopId`: records of other writers, then additions of its owner. A
   * history that the owner replaced remains unchanged. Throws `SessionError` `notFound` if the log does not know the loop.
   */
  of(loopId: string | undefined, conversation: JournaledConversation): Found {
    this.isUnreported = false
    const { ends, seq } = this.known
    // A conversation without a loop was cleared, unless there was no loop to continue from.
    const isKnown = ends.hasLoops === (loopId !== undefined)
    const added = isKnown ? ends.beyond(loopId, conversation) : undefined
    const latest = added === undefined ? undefined : latestFrom(this.#records, loopId, seq)
    const knownSnapshot = this.#snapshots.get(latest)
    const at = { sessionId: this.#sessionId, ...(latest !== undefined && { loopId: latest }) }
    const snapshot = knownSnapshot ?? snapshotOf(this.#records, at)
    if (added === undefined) return { caughtUp: ownHistory(snapshot, loopId, conversation), isFirst: false }
    this.#snapshots.set(latest, snapshot)
    const { messages, state, loopCounts, lastLoopId, asked, clientCalls } = snapshot
    const shared = sharedOf(snapshot)
    const line = {
      ...(lastLoopId !== undefined && { lastLoopId }),
      ...(asked !== undefined && { asked }),
      ...(clientCalls !== undefined && { clientCalls }),
    }
    return {
      caughtUp: { messages: [...messages, ...added], state, loopCounts, ...line, ...shared },
      snapshot,
      isFirst: knownSnapshot === undefined,
    }
  }
}

/** Returns the unchanged conversation, with the loop ids used in the meantime. */
function ownHistory(
  snapshot: ResumableSnapshot,
  lastLoopId: string | undefined,
  { messages, state = {} }: JournaledConversation,
): CaughtUp {
  const { loopCounts } = snapshot
  return { messages: [...messages], state, loopCounts, ...sharedOf(snapshot), ...(lastLoopId !== undefined && { lastLoopId }) }
}

/** Shared state belongs to the session, so the history does not affect it. */
function sharedOf({ sharedState }: ResumableSnapshot): Pick<CaughtUp, 'sharedState'> {
  return sharedState === undefined ? {} : { sharedState }
}

/** Returns the last loop that began after the record `after` and descends from `loopId`, otherwise `loopId`. */
function latestFrom(records: readonly SessionRecord[], loopId: string | undefined, after: number): string | undefined {
  const line = new Set([loopId])
  let latest = loopId
  for (const { seq, loopId: next, entry } of records) {
    if (seq <= after) continue
    if (entry.type === 'parallelGroup' && line.has(entry.group.selectedLoopId)) latest = entry.group.selectedLoopId
    const parent = entry.type === 'loopStart' ? entry : entry.type === 'loop' ? entry.loop : undefined
    if (next === undefined || parent === undefined || !line.has(parent.parentLoopId)) continue
    line.add(next)
    latest = next
  }
  return latest
}
