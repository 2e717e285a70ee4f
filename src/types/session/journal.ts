import type { CompactionOverlay } from '../context/compaction.ts'
import type { ContextState, PruneRecord, RevertRecord } from '../context/context-change.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { AgentMessage } from '../message/message.ts'
import type { Usage } from '../model/usage.ts'
import type { AgentEvent } from '../run/event.ts'
import type { AnnotatedRequest } from '../run/request-capture.ts'
import type { ContinuationKind, LoopConfigSnapshot, PendingApproval, RunFailure, RunStatus, TurnTrigger } from '../run/run-facts.ts'
import type { LoopEvent, ParallelGroupRecord, SessionFormation } from './session.ts'

/** What must be durable before the run goes on. */
export type JournalEntry =
  | { type: 'input'; message: AgentMessage }
  | { type: 'assistant'; message: AgentMessage }
  | { type: 'toolIntent'; toolCallId: string; toolName: string; arguments: JsonObject; idempotent: boolean }
  | { type: 'toolResult'; message: AgentMessage }
  | { type: 'compaction'; overlay: CompactionOverlay }
  | { type: 'prune'; record: PruneRecord }
  | { type: 'revert'; record: RevertRecord }
  | {
      type: 'loopStart'
      parentLoopId?: string
      continuationKind: ContinuationKind
      config: LoopConfigSnapshot
      metadata?: JsonValue
    }
  | { type: 'turnStart'; triggeredBy: TurnTrigger }
  | { type: 'turnRequest'; request: AnnotatedRequest }
  /** Events of the loop, where they are kept beside what they tell (`withEvents`). */
  | { type: 'events'; events: LoopEvent[] }
  /** The session was given a name. */
  | { type: 'title'; title: string }
  | { type: 'parallelGroup'; group: Omit<ParallelGroupRecord, 'isSelected'> }
  | { type: 'loopEnd'; status: RunStatus; usage: Usage; error?: RunFailure; rejection?: string; pendingApprovals?: PendingApproval[] }

/** A `JournalEntry` and where it belongs. */
export interface JournalRecord {
  entry: JournalEntry
  agentId: string
  sessionId: string
  loopId: string
  runId: string
  turnIndex: number
  /** Epoch ms. */
  at: number
}

/** The conversation a loop works on, as it is when a record is written; a live view. */
export interface JournaledConversation {
  readonly messages: readonly AgentMessage[]
  readonly state?: ContextState | undefined
  /** Why its session was opened. Default: for its first loop. */
  readonly formation?: SessionFormation | undefined
}

/**
 * Where a run makes its history durable.
 *
 * **Contract**
 * - The loop awaits `append` for each accepted input, each finished assistant message, before each tool's `execute` (intent) and after
 *   each result, in that order; and for each compaction, prune and revert before a request uses it. Calls overlap where tools run at the
 *   same time; they are made in the order in which the records belong.
 * - `turnStart` is awaited only after the next record of its turn: nothing rests on it alone, so it may be written together with that one.
 * - `loopStart` comes before every other entry of a loop, `loopEnd` is its last, right after `agentEnd`. A loop that a hook refused has these two.
 * - A resolved promise means: durable. A rejection ends the run with code `journal` before the next side effect.
 * - Without a journal nothing is awaited.
 *
 * Source: docs/concepts/journal.md
 */
export interface Journal {
  append(record: JournalRecord, conversation: JournaledConversation): Promise<void>
  /** Told of every event of the loops it records, as it is emitted, where it has this; nothing waits for it. */
  event?(event: AgentEvent): void
}
