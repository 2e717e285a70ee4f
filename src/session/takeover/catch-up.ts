import type { SessionRecord } from '../../contract/session/session-record.ts'
import type { JournaledConversation } from '../../types/session/journal.ts'
import type { CaughtUp } from '../../types/session/session-store.ts'
import { type ResumableSnapshot, snapshotOf } from '../views/snapshot-of.ts'
import type { HistoryEnds } from './history-ends.ts'

/** What this process knows of a log. */
export interface KnownLog {
  /** What it ended with when the last writer took over: what is there beside that, and of that writer, others have written. */
  seq: number
  epoch?: number | undefined
  /** The epoch of that writer. */
  writer?: number | undefined
  ends: HistoryEnds
}

/** Where a conversation is by now. */
interface Found {
  caughtUp: CaughtUp
  /** What of it is in the log; absent where the conversation is a history of its own. */
  snapshot?: ResumableSnapshot
  /** Whether it is the first that is told of this loop. */
  isFirst: boolean
}

/** What others have written to a session that was taken over from them, for the conversations that go on there. */
export class Missed {
  /** What was known before. */
  readonly known: KnownLog
  /** Whether no conversation has been told. */
  isUntold = true
  readonly #sessionId: string
  readonly #records: readonly SessionRecord[]
  readonly #snapshots = new Map<string | undefined, ResumableSnapshot>()

  constructor(sessionId: string, records: readonly SessionRecord[], known: KnownLog) {
    this.#sessionId = sessionId
    this.#records = records
    this.known = known
  }

  /**
   * Where a conversation that goes on from `loopId` is by now: with what others have written, then what its owner has added. A history that its owner
   * has replaced stays. Throws `SessionError` `notFound` where the log knows nothing of its loop.
   */
  of(loopId: string | undefined, conversation: JournaledConversation): Found {
    this.isUntold = false
    const { ends, seq } = this.known
    // Without a loop it was emptied, unless there was nothing to go on from.
    const isKnown = ends.hasLoops === (loopId !== undefined)
    const added = isKnown ? ends.beyond(loopId, conversation) : undefined
    const latest = added === undefined ? undefined : latestFrom(this.#records, loopId, seq)
    const told = this.#snapshots.get(latest)
    const at = { sessionId: this.#sessionId, ...(latest !== undefined && { loopId: latest }) }
    const snapshot = told ?? snapshotOf(this.#records, at)
    if (added === undefined) return { caughtUp: ownHistory(snapshot, loopId, conversation), isFirst: false }
    this.#snapshots.set(latest, snapshot)
    const { messages, state, loopCounts, lastLoopId, asked, clientCalls } = snapshot
    const shared = sharedOf(snapshot)
    const line = {
      ...(lastLoopId !== undefined && { lastLoopId }),
      ...(asked !== undefined && { asked }),
      ...(clientCalls !== undefined && { clientCalls }),
    }
    return { caughtUp: { messages: [...messages, ...added], state, loopCounts, ...line, ...shared }, snapshot, isFirst: told === undefined }
  }
}

/** The conversation as it is, with the ids that were used meanwhile. */
function ownHistory(
  snapshot: ResumableSnapshot,
  lastLoopId: string | undefined,
  { messages, state = {} }: JournaledConversation,
): CaughtUp {
  const { loopCounts } = snapshot
  return { messages: [...messages], state, loopCounts, ...sharedOf(snapshot), ...(lastLoopId !== undefined && { lastLoopId }) }
}

/** It is the session's, whichever history goes on. */
function sharedOf({ sharedState }: ResumableSnapshot): Pick<CaughtUp, 'sharedState'> {
  return sharedState === undefined ? {} : { sharedState }
}

/** The last loop that was begun after the record `after` and goes on from `loopId`, directly or not; `loopId` where there is none. */
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
