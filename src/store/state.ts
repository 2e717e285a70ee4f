import type { RevertCategory } from '../contract/context/context-change.ts'
import type { JsonObject } from '../contract/json.ts'
import type { Citation, FileContent, ImageContent, OpaqueContent, ServiceToolContent } from '../contract/message/content.ts'
import type { DataPart } from '../contract/message/data-part.ts'
import type { AgentMessage } from '../contract/message/message.ts'
import type { AnnotatedRequest } from '../contract/model/request.ts'
import { emptyUsage, type Usage } from '../contract/model/usage.ts'
import type {
  EndedBy,
  PendingApproval,
  PendingClientCall,
  PendingInput,
  RunFailure,
  RunStatus,
  TurnTrigger,
} from '../contract/run/run-facts.ts'
import type { ReachedLimit } from '../contract/run/settings.ts'
import type { EditedArguments } from '../contract/tool/edited-arguments.ts'
import type { ToolResult } from '../contract/tool/tool-result.ts'

/** A block of a message on screen. A tool call block contains only the call id: see `RunState.tools[toolCallId]`. */
export type BlockView =
  | { type: 'text'; text: string; citations?: readonly Citation[] }
  /**
   * `startedAt` and `updatedAt` (epoch milliseconds) give the thinking time. Both are absent for messages that were not streamed.
   */
  | { type: 'thinking'; text: string; startedAt?: number; updatedAt?: number }
  | { type: 'toolCall'; toolCallId: string; toolName: string; argumentsText: string }
  | ImageContent
  | FileContent
  | ServiceToolContent
  | OpaqueContent

/** A message on screen. The object is replaced only when its content changes. */
export interface MessageView {
  id: string
  role: AgentMessage['role']
  status: 'streaming' | 'done'
  blocks: readonly BlockView[]
  /** Epoch milliseconds. */
  startedAt: number
  /** Epoch milliseconds. */
  endedAt?: number
  /** The finished message, with usage, stop reason and error. */
  message?: AgentMessage
}

/**
 * Status of a tool call. `streaming`: arguments are arriving. `ready`: waits to start. `pendingApproval` and `pendingClient`: waits for a
 * user or client. `cancelled`: the run ended first. `unknown`: the process crashed during the call.
 */
export type ToolStatus =
  | 'streaming'
  | 'ready'
  | 'pendingApproval'
  | 'pendingClient'
  | 'running'
  | 'done'
  | 'failed'
  | 'denied'
  | 'cancelled'
  | 'unknown'

/** A call's background task on screen. */
export interface BackgroundTaskView {
  backgroundId: string
  task: string
  /** The task's status. `cancelled`: the run ended without a result. */
  status: Extract<ToolStatus, 'running' | 'done' | 'failed' | 'cancelled'>
  /** The task's result, once it has ended. */
  result?: ToolResult
  /** Milliseconds. */
  durationMs?: number
  /** Epoch milliseconds. */
  startedAt: number
}

/** A tool call on screen. */
export interface ToolView {
  toolCallId: string
  toolName: string
  status: ToolStatus
  /** The complete arguments. Absent during streaming. */
  args?: JsonObject
  /** Set if a person changed the arguments when approving the call. `args` then contains the changed arguments. */
  edited?: EditedArguments
  /** Latest status line. */
  progress?: string
  /** The latest partial result, while the call is running. */
  partialResult?: ToolResult
  result?: ToolResult
  /** Reason for the denial. */
  reason?: string
  /** Start time in epoch milliseconds. */
  startedAt?: number
  /** Execution time in milliseconds. */
  durationMs?: number
  /** The background task that the call started. See `BackgroundTaskView`. */
  background?: BackgroundTaskView
  /** The call's nested loop, after the call has ended. See `childOf`. */
  child?: RunState
}

/** Branches of a parallel loop. Branch events have separate run ids: use one store per branch, selected by `loopId`. */
export interface BranchesView {
  /** Loop ids of the branches, in configuration order. */
  loopIds: readonly string[]
  /** Id of the selected branch, once one is selected. */
  selectedLoopId?: string
  selectedConfigIndex?: number
}

/** A data part on screen. */
export interface DataPartView extends DataPart {
  /** Whether the part is not stored, so that it disappears when the next run starts. */
  transient?: true
  /** The tool call that sent the part. */
  toolCallId?: string
}

/** A turn: one model call and its tool calls. */
export interface TurnView {
  loopId: string
  turnIndex: number
  triggeredBy: TurnTrigger
  /** Epoch milliseconds. */
  startedAt: number
  /** Epoch milliseconds. */
  endedAt?: number
  usage?: Usage
}

/** A scheduled retry of a model call, to show "retrying in …". */
export interface RetryView {
  attempt: number
  maxRetries: number
  error: RunFailure
  /** Time of the retry in epoch milliseconds. */
  retryAt: number
}

/**
 * Complete, immutable state of a conversation for a user interface.
 *
 * **Contract**
 * - Plain JSON. Two states share all unchanged parts by identity.
 * - `messages` are in conversation order, followed by the streaming message `live`. A delta replaces only `live`, so its cost is
 *   independent of the conversation's length.
 */
export interface RunState {
  status: 'idle' | 'running' | RunStatus
  /** Cursor: the newest event in this state. Pass it as `after` to resume. */
  seq: number
  runId?: string
  loopId?: string
  sessionId?: string
  messages: readonly MessageView[]
  live?: MessageView
  /** Tool calls by id. */
  tools: ById<ToolView>
  /** Nested loops of active calls by call id, if their tools forward events. Contains only the newest messages. See `childOf`. */
  children: ById<RunState>
  /** Compactions, prunes and reverts, oldest first. */
  notes: readonly NoteView[]
  /**
   * Data parts of tools, hooks and plugins, and extension messages of the application: the newest per name and id, in order of first
   * appearance.
   */
  data: readonly DataPartView[]
  /** Pending approvals, oldest first. */
  approvals: readonly PendingApproval[]
  /** Pending user input requests, oldest first. */
  inputs: readonly PendingInput[]
  /** Pending client tool calls, oldest first. */
  clientCalls: readonly PendingClientCall[]
  turns: readonly TurnView[]
  /** Token usage of all runs so far, including the current run. */
  usage: Usage
  /** Token usage of earlier runs. */
  previousUsage: Usage
  /** Present while the loop waits to retry a model call. */
  retry?: RetryView
  /** Number of retries in the current run. */
  retries: number
  /** Reason why the run failed or its events cannot be read. */
  failure?: RunFailure
  /** Reason why an input filter or hook refused the run. */
  rejection?: string
  /** The limit that ended the run. */
  limit?: ReachedLimit
  /** Cause that ended a completed run early. */
  endedBy?: EndedBy
  /** The last request to the model, if the run captures it. */
  lastRequest?: AnnotatedRequest
  branches?: BranchesView
}

/** Returns the empty state. */
export function initialState(): RunState {
  return {
    status: 'idle',
    seq: 0,
    messages: [],
    tools: withEntries({}),
    children: withEntries({}),
    notes: [],
    data: [],
    approvals: [],
    inputs: [],
    clientCalls: [],
    turns: [],
    usage: emptyUsage(),
    previousUsage: emptyUsage(),
    retries: 0,
  }
}

/** Returns all messages of `state` as a new array. Call this function once per frame, not once per event. */
export function allMessages(state: RunState): readonly MessageView[] {
  return state.live === undefined ? state.messages : [...state.messages, state.live]
}

/** State by call id. */
export type ById<Value> = Readonly<Record<string, Value>>

/**
 * Returns `record` with `changes`, as a new object without a prototype. Providers choose call ids, so a lookup such as
 * `record['constructor']` must not find inherited properties.
 */
export function withEntries<Value>(record: ById<Value>, changes: ById<Value> = {}): Record<string, Value> {
  return Object.assign(Object.create(null), record, changes)
}

/** A note's position. */
interface NotePlace {
  /** Note id, unique within a state. */
  id: string
  /** Epoch milliseconds. */
  at: number
  /** Message before the note. Absent if the note precedes all messages. */
  afterMessageId?: string
}

/**
 * Compaction: a summary replaced the older part of the conversation in requests. `failed`: the compaction failed. Token counts are
 * estimates.
 */
export interface CompactionNote extends NotePlace {
  type: 'compaction'
  status: 'running' | 'done' | 'failed'
  messagesBefore: number
  tokensBefore: number
  /** Absent while the compaction is running. */
  messagesAfter?: number
  /** Absent while the compaction is running. */
  tokensAfter?: number
  loopsCompacted?: number
  error?: RunFailure
}

/** A prune: the model removed messages from later requests. */
export interface PruneNote extends NotePlace {
  type: 'prune'
  /** Estimate. */
  tokensRemoved: number
  messagesRemoved: number
  /** Ids of the removed messages. */
  messageIds: readonly string[]
  memo?: string
}

/** A revert: the model returned to an earlier point, or the revert was refused. */
export interface RevertNote extends NotePlace {
  type: 'revert'
  category: RevertCategory
  target: number
  abandonedNodeIds: readonly number[]
  summary?: string
  applied: boolean
  /** Reason for the refusal. */
  reason?: string
}

/** A change to later requests, shown between two messages. The conversation on screen stays complete. */
export type NoteView = CompactionNote | PruneNote | RevertNote
