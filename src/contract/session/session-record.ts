import { contextState } from '../context/context-change.ts'
import type { JsonValue } from '../json.ts'
import { agentMessage } from '../message/message.ts'
import { aNumber, aText, type Infer, listOf, object, optional, tagged } from '../shape/shape.ts'
import { journalEntries } from './journal-entry.ts'
import { childLoopRef, type LoopRecord, loopRecordFields, sessionFormation, sessionScope, spawnRef } from './session.ts'

const { events: _events, ...withoutEvents } = loopRecordFields

/** Entries of a session log by type: run entries and session entries. */
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
  /** Replaces all other entries of a loop that is stored as a whole, without events. */
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
  /** Original text of `body`, written back unchanged, because `JSON.parse` may alter numbers and keys. */
  json?: string
}

/**
 * One immutable record of a session log.
 *
 * **Contract**
 * - `seq` counts from 1 without gaps over the whole session. `epoch` counts writers. Records that the newest writer did not continue from
 *   are ignored. `SessionStore.save` replaces all records and continues the count.
 * - Order does not depend on time.
 *
 * Source: docs/concepts/sessions.md
 */
export interface SessionRecord {
  epoch: number
  seq: number
  /** Epoch milliseconds. */
  at: number
  /** Absent for entries that concern the whole session. */
  loopId?: string
  turnIndex?: number
  entry: SessionEntry | UnknownEntry
}

/** Damage found in a log. All records before the damage were read, and nothing was deleted. */
export interface LogDamage {
  /**
   * `torn`: the last record is incomplete. `corrupt`: a checksum or the record order is wrong. `forked`: two writers appended records.
   * `newerSchema`: a newer version wrote the log, which is undamaged.
   */
  kind: 'torn' | 'corrupt' | 'forked' | 'newerSchema'
  /** The last valid `seq`. */
  afterSeq: number
  /** Number of ignored characters. */
  droppedChars: number
  reason: string
}
