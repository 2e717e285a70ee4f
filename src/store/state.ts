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

/** A block of a message on screen. A tool call holds only its id: what became of it is `RunState.tools[toolCallId]`. */
export type BlockView =
  | { type: 'text'; text: string; citations?: readonly Citation[] }
  /** `startedAt` and `updatedAt` (epoch ms) say how long the model thought; both absent for messages that were not streamed. */
  | { type: 'thinking'; text: string; startedAt?: number; updatedAt?: number }
  | { type: 'toolCall'; toolCallId: string; toolName: string; argumentsText: string }
  | ImageContent
  | FileContent
  | ServiceToolContent
  | OpaqueContent

/** A message on screen. The object is replaced whenever anything in it changes, and only then. */
export interface MessageView {
  id: string
  role: AgentMessage['role']
  status: 'streaming' | 'done'
  blocks: readonly BlockView[]
  /** Epoch ms. */
  startedAt: number
  /** Epoch ms. */
  endedAt?: number
  /** The finished message, once it is finished: usage, stop reason and error are read from it. */
  message?: AgentMessage
}

/**
 * Where a tool call is: its arguments arrive (`streaming`), it waits for its turn (`ready`), for a person (`pendingApproval`) or for a page to run it (`pendingClient`), it runs,
 * or it is over. `cancelled`: the run ended before the call did. `unknown`: its process ended while it ran, and nobody knows what it did.
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

/** What a call began beside the run, on screen. */
export interface BackgroundTaskView {
  backgroundId: string
  task: string
  /** `cancelled`: the run ended without its end. */
  status: Extract<ToolStatus, 'running' | 'done' | 'failed' | 'cancelled'>
  /** Its report, once it has ended. */
  result?: ToolResult
  /** Milliseconds it took. */
  durationMs?: number
  /** Epoch ms. */
  startedAt: number
}

/** A tool call on screen. */
export interface ToolView {
  toolCallId: string
  toolName: string
  status: ToolStatus
  /** Complete arguments; absent while they stream. */
  args?: JsonObject
  /** The newest line of progress. */
  progress?: string
  /** The newest partial result, while the call runs. */
  partialResult?: ToolResult
  result?: ToolResult
  /** Why a person refused. */
  reason?: string
  /** Epoch ms of the start of the execution. */
  startedAt?: number
  /** Milliseconds the execution took. */
  durationMs?: number
  /** What the call began goes on beside the run, or has ended; see `BackgroundTaskView`. */
  background?: BackgroundTaskView
  /** The loop the call ran, once the call is over; see `childOf`. */
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

/** A turn: one model call and the tools it asked for. */
export interface TurnView {
  loopId: string
  turnIndex: number
  triggeredBy: TurnTrigger
  /** Epoch ms. */
  startedAt: number
  /** Epoch ms. */
  endedAt?: number
  usage?: Usage
}

/** A model call that is about to be repeated: "retrying in …". */
export interface RetryView {
  attempt: number
  maxRetries: number
  error: RunFailure
  /** Epoch ms at which the retry is made. */
  retryAt: number
}

/**
 * Everything a user interface shows of a conversation, as one immutable value.
 *
 * **Contract**
 * - Plain JSON. Two states share every part that did not change, by identity.
 * - `messages` are in conversation order; `live` is the message being streamed and comes after all of them. So a delta replaces `live` alone
 *   and costs the same in the first minute and in the tenth.
 */
export interface RunState {
  status: 'idle' | 'running' | RunStatus
  /** Cursor: the newest event that is part of this state. Pass it as `after` to read on. */
  seq: number
  runId?: string
  loopId?: string
  sessionId?: string
  messages: readonly MessageView[]
  live?: MessageView
  /** Tool calls by id. */
  tools: ById<ToolView>
  /** Loops of the calls that run now, by call id, where their tools pass on events: the newest messages of each. See `childOf`. */
  children: ById<RunState>
  /** Compactions, prunes and reverts, oldest first. */
  notes: readonly NoteView[]
  /** Calls that wait for a person, oldest first. */
  approvals: readonly PendingApproval[]
  /** What running calls ask a person, oldest first. */
  inputs: readonly PendingInput[]
  /** Calls that wait for a page to run them, oldest first. */
  clientCalls: readonly PendingClientCall[]
  turns: readonly TurnView[]
  /** Tokens of all runs so far, the current one included. */
  usage: Usage
  /** Tokens of the runs before the current one. */
  previousUsage: Usage
  /** Present while the loop waits before it repeats a failed model call. */
  retry?: RetryView
  /** Retries of the current run. */
  retries: number
  /** Why the run failed, or why its events can no longer be read. */
  failure?: RunFailure
  /** Why an input filter, or a hook, refused to go on. */
  rejection?: string
  /** Which limit ended the run. */
  limit?: ReachedLimit
  /** What ended a completed run before the model had nothing more to do. */
  endedBy?: EndedBy
  /** What the model was sent last, where the run captures it. */
  lastRequest?: AnnotatedRequest
  branches?: BranchesView
}

/** The state before anything happened. */
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

/** The messages of `state` as one list. Builds a new array: call it per frame, not per event. */
export function allMessages(state: RunState): readonly MessageView[] {
  return state.live === undefined ? state.messages : [...state.messages, state.live]
}

/** What is kept by the ids of calls. */
export type ById<Value> = Readonly<Record<string, Value>>

/**
 * `record` with `changes`, as a new object without a prototype: services and models choose the ids of calls, and `record['constructor']` must be
 * what was put there, or nothing.
 */
export function withEntries<Value>(record: ById<Value>, changes: ById<Value> = {}): Record<string, Value> {
  return Object.assign(Object.create(null), record, changes)
}

/** Where a note stands. */
interface NotePlace {
  /** Unique within a state. */
  id: string
  /** Epoch ms. */
  at: number
  /** The newest message at that time; absent: before all messages. */
  afterMessageId?: string
}

/** The older part of the conversation is sent in short form. `failed`: nothing came of it. Tokens are estimates. */
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

/** The model had messages taken out of what it is sent. */
export interface PruneNote extends NotePlace {
  type: 'prune'
  /** Estimate. */
  tokensRemoved: number
  messagesRemoved: number
  /** Ids of the messages that are not sent any more. */
  messageIds: readonly string[]
  memo?: string
}

/** The model went back to an earlier point, or asked to and was refused. */
export interface RevertNote extends NotePlace {
  type: 'revert'
  category: RevertCategory
  target: number
  abandonedNodeIds: readonly number[]
  summary?: string
  applied: boolean
  /** Why it was refused. */
  reason?: string
}

/** What happened between two messages to that which the model is sent. On screen the conversation stays whole. */
export type NoteView = CompactionNote | PruneNote | RevertNote
