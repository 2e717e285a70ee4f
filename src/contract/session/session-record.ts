import { contextState } from '../context/context-change.ts'
import type { JsonValue } from '../json.ts'
import { agentMessage } from '../message/message.ts'
import { aNumber, aText, type Infer, listOf, object, optional, tagged } from '../shape/shape.ts'
import { journalEntries } from './journal-entry.ts'
import { childLoopRef, type LoopRecord, loopRecordFields, sessionFormation, sessionScope, spawnRef } from './session.ts'

const { events: _keptBeside, ...withoutEvents } = loopRecordFields

/** The entries of a session's log, by their type: those of its runs, and what only a session knows. */
export const sessionEntry = tagged('type', {
  ...journalEntries,
  sessionStart: {
    agentId: aText,
    /** The user whose it is, in a store that several share: see `scopedSessionStore`. */
    owner: optional(aText),
    formation: sessionFormation,
    scope: sessionScope,
    spawnRef: optional(spawnRef),
    title: optional(aText),
    /** Only in a session that was stored as a whole: epoch ms. */
    lastActiveAt: optional(aNumber),
  },
  /** The history of a loop begins with exactly this, not with that of its parent: it was replaced, or comes from elsewhere. */
  history: { messages: listOf(agentMessage), state: contextState },
  childLoop: { ref: childLoopRef },
  /** Instead of all other entries of a loop that was stored as a whole, without its events. */
  loop: {
    loop: object<Omit<LoopRecord, 'events'>>(withoutEvents, [
      ...(['loopId', 'sessionId', 'agentId', 'startedAt', 'usage', 'messages', 'turns'] as const),
      ...(['childrenLoopIds', 'childLoopRefs', 'base', 'begunCalls'] as const),
    ]),
  },
  /** What `snapshotOf` made up for calls that the process did not finish: error results, and the mark of those that may run again. */
  recovered: { messages: listOf(agentMessage) },
})

/** What a record of a session says: what a run must make durable, and what only a session knows. */
export type SessionEntry = Infer<typeof sessionEntry>

/** An entry of a type that this version does not know. It is kept as it was and written back byte for byte. */
export interface UnknownEntry {
  type: 'unknown'
  name: string
  body: JsonValue
  /** `body` as it was written; it is written again as this, because numbers and keys may not survive `JSON.parse`. */
  json?: string
}

/**
 * One immutable record of a session's log.
 *
 * **Contract**
 * - `seq` counts up from 1 without gaps over the whole session. `epoch` counts the writers; what the newest one did not go on from
 *   does not count. `SessionStore.save` replaces all of them, and counts on from there.
 * - Time plays no part in the order.
 *
 * Source: docs/concepts/sessions.md
 */
export interface SessionRecord {
  epoch: number
  seq: number
  /** Epoch ms. */
  at: number
  /** Absent for what concerns the session as a whole. */
  loopId?: string
  turnIndex?: number
  entry: SessionEntry | UnknownEntry
}

/** What was wrong with a log. Everything before it was read; nothing was deleted. */
export interface LogDamage {
  /**
   * `torn`: the end is incomplete. `corrupt`: a checksum or the order does not fit. `forked`: two writers have written. `newerSchema`: nothing is
   * wrong, but a newer version has written lines that this one cannot read.
   */
  kind: 'torn' | 'corrupt' | 'forked' | 'newerSchema'
  /** The last `seq` that counts. */
  afterSeq: number
  /** Characters that do not count. */
  droppedChars: number
  reason: string
}
