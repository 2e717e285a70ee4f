import type { CompactionOverlay, PruneRecord, RevertRecord } from '../context/context-change.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { AgentMessage } from '../message/message.ts'
import type { Usage } from '../model/usage.ts'
import type { AnnotatedRequest } from '../run/request-capture.ts'
import type { ContinuationKind, LoopConfigSnapshot, PendingApproval, RunFailure, RunStatus, TurnTrigger } from '../run/run-facts.ts'
import type { LoopEvent, ParallelGroupRecord } from './session.ts'

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
