import type { CompactionOverlay, ContextState, PruneRecord, RevertRecord } from '../context/context-change.ts'
import type { JsonValue } from '../json.ts'
import type { AgentMessage, TurnId } from '../message/message.ts'
import type { Usage } from '../model/usage.ts'
import type { AgentEvent } from '../run/event.ts'
import type { AnnotatedRequest } from '../run/request-capture.ts'
import type { ContinuationKind, LoopConfigSnapshot, RunFailure, RunStatus, TurnTrigger } from '../run/run-facts.ts'

/** Why a session was opened. Times are epoch ms. */
export type SessionFormation =
  | { type: 'firstLoop'; at: number }
  | { type: 'explicit'; at: number }
  | { type: 'inactivityTimeout'; at: number; thresholdSecs: number; previousSessionId?: string }

/** Whether a session is meant to outlive its agent. */
export type SessionScope = 'ephemeral' | 'persistent'

/** Which call of which loop began a sub-agent's session. Ids and names are empty until they are known. */
export interface SpawnRef {
  parentSessionId: string
  parentLoopId: string
  toolCallId: string
  toolName: string
}

/** A sub-agent's loop that a call of this loop ran, in a session of its own. */
export interface ChildLoopRef {
  toolCallId: string
  toolName: string
  childLoopId: string
  childSessionId: string
}

/** Branches of one prompt, and which of them was chosen. */
export interface ParallelGroupRecord {
  /** In the order of the configurations. */
  allLoopIds: string[]
  selectedLoopId: string
  selectedConfigIndex: number
  evaluationUsage: Usage
  /** Why it was chosen, in the words of the judge, where it said so. */
  reason?: string
  /** Whether this loop is the chosen one. */
  isSelected: boolean
}

/** One event of a loop. Gaps in `sequence` are events that were not kept. */
export interface LoopEvent {
  /** Counts from 0. */
  sequence: number
  event: AgentEvent
}

/** One model call with what went in and what came of it. */
export interface Turn {
  turnId: TurnId
  triggeredBy: TurnTrigger
  usage: Usage
  /** What people and programs said; no tool results. */
  inputMessages: AgentMessage[]
  outputMessage?: AgentMessage
  toolResults: AgentMessage[]
  /** Epoch ms. */
  startedAt: number
  /** Epoch ms. */
  endedAt: number
  /** Only where turn requests are captured. */
  requestPayload?: AnnotatedRequest
}

/**
 * Where a loop is: how its run ended, `running`, or `pending` (announced by `parallelLoopStart`). `interrupted`: its process ended before it
 * did, so that no `agentEnd` was seen.
 */
export type LoopStatus = RunStatus | 'running' | 'pending' | 'interrupted'

/** A call whose tool was begun. */
export interface BegunCall {
  toolCallId: string
  /** Whether it may be begun again without harm. */
  idempotent: boolean
}

/** The complete record of one loop. */
export interface LoopRecord {
  loopId: string
  sessionId: string
  agentId: string
  parentLoopId?: string
  continuationKind: ContinuationKind
  /** Epoch ms. */
  startedAt: number
  /** Epoch ms. */
  endedAt?: number
  status: LoopStatus
  rejection?: string
  error?: RunFailure
  /** As far as it is known: what the Rust crate stores may lack fields. */
  config?: Partial<LoopConfigSnapshot>
  /** The history the loop began with, where that is not the one its parent ended with. */
  base?: { messages: AgentMessage[]; state: ContextState }
  /** What the loop added to the history, in order. */
  messages: AgentMessage[]
  turns: Turn[]
  usage: Usage
  metadata?: JsonValue
  events: LoopEvent[]
  /** Loops of this session that descend from this one. */
  childrenLoopIds: string[]
  /** Sub-agents' loops. */
  childLoopRefs: ChildLoopRef[]
  parallelGroup?: ParallelGroupRecord
  /** What this loop changed of what is sent. */
  overlay?: CompactionOverlay
  prunes?: PruneRecord[]
  reverts?: RevertRecord[]
  /**
   * Of a loop without an end, as a log knows it: which calls of the last answer were begun. Whoever resumes it runs the others, and asks again for
   * those that waited for a person. Absent where nobody knows; then all may have begun.
   */
  begunCalls?: BegunCall[]
}

/** Everything that happened under one session id. Plain JSON. Source: docs/concepts/session-tree.md */
export interface Session {
  sessionId: string
  agentId: string
  /** Epoch ms. */
  createdAt: number
  /** Epoch ms. */
  lastActiveAt: number
  formation: SessionFormation
  /** The name that somebody gave it. */
  title?: string
  /** Where it is a sub-agent's. */
  parentSpawnRef?: SpawnRef
  scope: SessionScope
  /** In the order they began. */
  loops: LoopRecord[]
}
