import type { RevertCategory } from '../contract/context/context-change.ts'
import type { JsonObject } from '../contract/json.ts'
import type { Citation, FileContent, ImageContent, OpaqueContent, ServiceToolContent } from '../contract/message/content.ts'
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
import type { ToolResult } from '../contract/tool/tool-result.ts'

/** A block of a message on screen. A tool call holds only its id: see `RunState.tools[toolCallId]`. */
export type BlockView =
  | { type: 'text'; text: string; citations?: readonly Citation[] }
  /**
   * `startedAt` and `updatedAt` (epoch milliseconds) give the thinking time; both are absent for messages that were not streamed.
   */
  | { type: 'thinking'; text: string; startedAt?: number; updatedAt?: number }
  | { type: 'toolCall'; toolCallId: string; toolName: string; argumentsText: string }
  | ImageContent
  | FileContent
  | ServiceToolContent
  | OpaqueContent

/** A message on screen. The object is replaced only when anything in it changes. */
export interface MessageView {
  id: string
  role: AgentMessage['role']
  status: 'streaming' | 'done'
  blocks: readonly BlockView[]
  /** Epoch milliseconds. */
  startedAt: number
  /** Epoch milliseconds. */
  endedAt?: number
  /** The finished message: usage, stop reason and error. */
  message?: AgentMessage
}

/**
 * The status of a tool call: its arguments are streamed (`streaming`), it runs, or it has ended. It may also wait for its turn (`ready`),
 * for approval (`pendingApproval`) or for a client (`pendingClient`). `cancelled`: the run ended first. `unknown`: its process crashed
 * during the call, so its effect is unknown.
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

/** A background task of a call, on screen. */
export interface BackgroundTaskView {
  backgroundId: string
  task: string
  /** `cancelled`: the run ended without its result. */
  status: Extract<ToolStatus, 'running' | 'done' | 'failed' | 'cancelled'>
  /** Its result, once it has ended. */
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
  /** The complete arguments; absent during streaming. */
  args?: JsonObject
  /** The last line of progress. */
  progress?: string
  /** The last partial result, while the call runs. */
  partialResult?: ToolResult
  result?: ToolResult
  /** The reason of a denial. */
  reason?: string
  /** Epoch milliseconds of the start. */
  startedAt?: number
  /** Milliseconds of the execution. */
  durationMs?: number
  /** The background task that the call started; see `BackgroundTaskView`. */
  background?: BackgroundTaskView
  /** The loop of the call, once it has ended; see `childOf`. */
  child?: RunState
}

/** Branches of one prompt. Their events have run ids of their own: one store each, chosen by `loopId`. */
export interface BranchesView {
  /** In the order of the configurations. */
  loopIds: readonly string[]
  /** The chosen one, once it is. */
  selectedLoopId?: string
  selectedConfigIndex?: number
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

/** A scheduled retry of a model call: "retrying in …". */
export interface RetryView {
  attempt: number
  maxRetries: number
  error: RunFailure
  /** Epoch milliseconds of the retry. */
  retryAt: number
}

/**
 * The complete state of a conversation for a user interface, as one immutable value.
 *
 * **Contract**
 * - Plain JSON. Two states share all unchanged parts by identity.
 * - `messages` are in conversation order; `live` is the streaming message and follows them. So a delta replaces `live` alone and
 *   costs the same in a long conversation.
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
  /** Loops of active calls, by call id, if their tools forward events: the newest messages of each. See `childOf`. */
  children: ById<RunState>
  /** Compactions, prunes and reverts, oldest first. */
  notes: readonly NoteView[]
  /** Pending approvals, oldest first. */
  approvals: readonly PendingApproval[]
  /** Pending user input requests, oldest first. */
  inputs: readonly PendingInput[]
  /** Pending client tool calls, oldest first. */
  clientCalls: readonly PendingClientCall[]
  turns: readonly TurnView[]
  /** Tokens of all runs so far, including the current one. */
  usage: Usage
  /** Tokens of the runs before the current one. */
  previousUsage: Usage
  /** Present while the loop waits to retry a model call. */
  retry?: RetryView
  /** Retries of the current run. */
  retries: number
  /** Why the run failed, or why its events cannot be read. */
  failure?: RunFailure
  /** Why an input filter or a hook refused. */
  rejection?: string
  /** The limit that ended the run. */
  limit?: ReachedLimit
  /** What ended a completed run early. */
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
    approvals: [],
    inputs: [],
    clientCalls: [],
    turns: [],
    usage: emptyUsage(),
    previousUsage: emptyUsage(),
    retries: 0,
  }
}

/** Returns all messages of `state` as a new array. Call it per frame, not per event. */
export function allMessages(state: RunState): readonly MessageView[] {
  return state.live === undefined ? state.messages : [...state.messages, state.live]
}

/** State by call id. */
export type ById<Value> = Readonly<Record<string, Value>>

/**
 * `record` with `changes`, as a new object without a prototype: services and models choose the ids of calls, and `record['constructor']` must be
 * what was put there, or nothing.
 */
export function withEntries<Value>(record: ById<Value>, changes: ById<Value> = {}): Record<string, Value> {
  return Object.assign(Object.create(null), record, changes)
}

/** Position of a note. */
interface NotePlace {
  /** Unique within a state. */
  id: string
  /** Epoch milliseconds. */
  at: number
  /** The newest message at that time; absent: before all messages. */
  afterMessageId?: string
}

/** A summary replaced the older part of the conversation in requests. `failed`: the compaction failed. Tokens are estimates. */
export interface CompactionNote extends NotePlace {
  type: 'compaction'
  status: 'running' | 'done' | 'failed'
  messagesBefore: number
  tokensBefore: number
  /** Absent while it runs. */
  messagesAfter?: number
  /** Absent while it runs. */
  tokensAfter?: number
  loopsCompacted?: number
  error?: RunFailure
}

/** The model removed messages from later requests. */
export interface PruneNote extends NotePlace {
  type: 'prune'
  /** Estimate. */
  tokensRemoved: number
  messagesRemoved: number
  /** Ids of the removed messages. */
  messageIds: readonly string[]
  memo?: string
}

/** The model went back to an earlier point, or tried to and was refused. */
export interface RevertNote extends NotePlace {
  type: 'revert'
  category: RevertCategory
  target: number
  abandonedNodeIds: readonly number[]
  summary?: string
  applied: boolean
  /** The reason of the refusal. */
  reason?: string
}

/** A change of later requests, between two messages. The conversation on screen stays complete. */
export type NoteView = CompactionNote | PruneNote | RevertNote
