import { contextState } from '../context/context-change.ts'
import type { JsonValue } from '../json.ts'
import { agentMessage } from '../message/message.ts'
import { aNumber, aText, type Infer, listOf, object, optional, tagged } from '../shape/shape.ts'
import { journalEntries } from './journal-entry.ts'
import { childLoopRef, type LoopRecord, loopRecordFields, sessionFormation, sessionScope, spawnRef } from './session.ts'

const { events: _events, ...withoutEvents } = loopRecordFields

/** Entries of a session log, by type: those of runs, and those of the session. */
export const sessionEntry = tagged('type', {
  ...journalEntries,
  sessionStart: {
    agentId: aText,
    /** Owner of the session in a shared store: see `scopedSessionStore`. */
    owner: optional(aText),
    formation: sessionFormation,
    scope: sessionScope,
    spawnRef: optional(spawnRef),
    title: optional(aText),
    /** Epoch milliseconds. Only in a session stored as a whole. */
    lastActiveAt: optional(aNumber),
  },
  /** Exact initial history of a loop that does not continue its parent's history. */
  history: { messages: listOf(agentMessage), state: contextState },
  childLoop: { ref: childLoopRef },
  /** Replaces all other entries of a loop stored as a whole, without its events. */
  loop: {
    loop: object<Omit<LoopRecord, 'events'>>(withoutEvents, [
      ...(['loopId', 'sessionId', 'agentId', 'startedAt', 'usage', 'messages', 'turns'] as const),
      ...(['childrenLoopIds', 'childLoopRefs', 'base', 'begunCalls'] as const),
    ]),
  },
  /** Messages that `snapshotOf` created for interrupted calls: error results, and the list of calls that may run again. */
  recovered: { messages: listOf(agentMessage) },
})

/** Content of a session record. */
export type SessionEntry = Infer<typeof sessionEntry>

/** An entry of an unknown type. It is preserved and written back byte for byte. */
export interface UnknownEntry {
  type: 'unknown'
  name: string
  body: JsonValue
  /** Original text of `body`, written back as is, because numbers and keys may not survive `JSON.parse`. */
  json?: string
}

/**
 * One immutable record of a session log.
 *
 * **Contract**
 * - `seq` counts from 1 without gaps over the whole session. `epoch` counts writers; records that the newest writer did not continue from
 *   do not count. `SessionStore.save` replaces all records and continues the count.
 * - Order does not depend on time.
 *
 * Source: docs/concepts/sessions.md
 */
export interface SessionRecord {
  epoch: number
  seq: number
  /** Epoch milliseconds. */
  at: number
  /** Absent for entries of the session as a whole. */
  loopId?: string
  turnIndex?: number
  entry: SessionEntry | UnknownEntry
}

/** Damage of a log. Everything before it was read; nothing was deleted. */
export interface LogDamage {
  /**
   * `torn`: the end is incomplete. `corrupt`: a checksum or the order is wrong. `forked`: two writers wrote. `newerSchema`: not damaged,
   * but written by a newer version.
   */
  kind: 'torn' | 'corrupt' | 'forked' | 'newerSchema'
  /** The last valid `seq`. */
  afterSeq: number
  /** Number of ignored characters. */
  droppedChars: number
  reason: string
}
