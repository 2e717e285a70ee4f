import type { SessionRecord } from '../../contract/session/session-record.ts'
import type { JournaledConversation } from '../../types/session/journal.ts'
import type { CaughtUp } from '../../types/session/session-store.ts'
import { type ResumableSnapshot, snapshotOf } from '../views/snapshot-of.ts'
import type { HistoryEnds } from './history-ends.ts'

/** This process's knowledge of a log. */
export interface KnownLog {
  /** The last `seq` at the previous takeover. Other records, except those of that writer, come from other processes. */
  seq: number
  epoch?: number | undefined
  /** Epoch of that writer. */
  writer?: number | undefined
  ends: HistoryEnds
}

/** Current state of a conversation. */
interface Found {
  caughtUp: CaughtUp
  /** Its state in the log; absent if its history is independent. */
  snapshot?: ResumableSnapshot
  /** Whether this is the first notification about this loop. */
  isFirst: boolean
}

/** Records by other writers after a takeover, for the conversations that continue. */
export class Missed {
  /** State before them. */
  readonly known: KnownLog
  /** Whether no conversation was notified yet. */
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
   * history that the owner replaced stays. Throws `SessionError` `notFound` if the log does not know the loop.
   */
  of(loopId: string | undefined, conversation: JournaledConversation): Found {
    this.isUnreported = false
    const { ends, seq } = this.known
    // Without a loop it was cleared, unless there was nothing to continue from.
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

/** Returns the conversation unchanged, with the ids that were used meanwhile. */
function ownHistory(
  snapshot: ResumableSnapshot,
  lastLoopId: string | undefined,
  { messages, state = {} }: JournaledConversation,
): CaughtUp {
  const { loopCounts } = snapshot
  return { messages: [...messages], state, loopCounts, ...sharedOf(snapshot), ...(lastLoopId !== undefined && { lastLoopId }) }
}

/** Shared state belongs to the session, regardless of the history. */
function sharedOf({ sharedState }: ResumableSnapshot): Pick<CaughtUp, 'sharedState'> {
  return sharedState === undefined ? {} : { sharedState }
}

/** Returns the last loop that began after the record `after` and descends from `loopId`, else `loopId`. */
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
