import type { RevertCategory } from '../context/context-change.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { AgentMessage, LlmMessage, MessageEnvelope, ToolResultMessage } from '../message/message.ts'
import type { StreamDelta } from '../model/request.ts'
import type { Usage } from '../model/usage.ts'
import type { ToolResult } from '../tool/tool-result.ts'
import type { AnnotatedRequest } from './request-capture.ts'
import type {
  ContinuationKind,
  LoopConfigSnapshot,
  PendingApproval,
  PendingInput,
  RunFailure,
  RunStatus,
  SubAgentRef,
  TurnTrigger,
} from './run-facts.ts'
import type { ReachedLimit } from './settings.ts'

/** What every event carries. */
export interface EventBase {
  runId: string
  /** Cursor within the run: counts up from 1 without gaps, except where events were coalesced. */
  seq: number
  /** Epoch ms. */
  at: number
  sessionId: string
  loopId: string
}

/** The first event of a loop: who runs, as continuation of what, with which configuration. Source: docs/concepts/events.md */
export interface AgentStartEvent extends EventBase {
  type: 'agentStart'
  agentId: string
  /** That of the agent, or of the sub-agent, where it has one. */
  agentName?: string
  parentLoopId?: string
  continuationKind: ContinuationKind
  configSnapshot: LoopConfigSnapshot
  /** What the caller passed to `prompt`, unchanged. */
  metadata?: JsonValue
}

/** The last event of a loop, on every path, exactly once. */
export interface AgentEndEvent extends EventBase {
  type: 'agentEnd'
  status: RunStatus
  /** Messages this loop added to the history. */
  messages: AgentMessage[]
  /** Of the loop's own model calls. */
  usage: Usage
  /** Also of all that was charged to it: sub-agents, compactions, tools that ask models. Absent in events of older versions. */
  totalUsage?: Usage
  error?: RunFailure
  /** Present when `status` is `limit`. */
  limit?: ReachedLimit
  /** What refused to go on, and why: an input filter, or a hook. */
  rejection?: string
  pendingApprovals?: PendingApproval[]
  /** What the run was given and did not take into the history, where there is any. */
  returned?: AgentMessage[]
}

/** A turn begins: its input follows, then one answer of the model. `turnIndex` counts from 0 within the loop. */
export interface TurnStartEvent extends EventBase {
  type: 'turnStart'
  turnIndex: number
  triggeredBy: TurnTrigger
}

/**
 * A turn has ended: the model's message, its own tokens, and the results of its calls in the order of the calls. For a turn that only runs
 * calls approved later, `message` is the earlier message that made them and `usage` is zero.
 */
export interface TurnEndEvent extends EventBase {
  type: 'turnEnd'
  turnIndex: number
  message: LlmMessage
  usage: Usage
  toolResults: (ToolResultMessage & MessageEnvelope)[]
}

/** A message begins. For assistant messages `message` is the live view that grows until `messageEnd`; others are complete. */
export interface MessageStartEvent extends EventBase {
  type: 'messageStart'
  messageId: string
  message: AgentMessage
}

/** One increment; the whole message so far is `run.message(messageId)`. */
export interface MessageUpdateEvent extends EventBase {
  type: 'messageUpdate'
  messageId: string
  delta: StreamDelta
  /** Present when this event stands for several that a slow reader missed: it covers `fromSeq` to `seq`. */
  fromSeq?: number
}

/** A message is complete, in the history and (with a journal) durable; it is never changed again. */
export interface MessageEndEvent extends EventBase {
  type: 'messageEnd'
  messageId: string
  message: AgentMessage
}

/** A call is about to be answered. `args` is what the model wrote; the tool gets it as its schema parsed it. */
export interface ToolExecutionStartEvent extends EventBase {
  type: 'toolExecutionStart'
  toolCallId: string
  toolName: string
  args: JsonObject
}

/** The latest partial result of a running call; a slow reader gets only the newest per call. */
export interface ToolExecutionUpdateEvent extends EventBase {
  type: 'toolExecutionUpdate'
  toolCallId: string
  toolName: string
  partialResult: ToolResult
}

/** The one end of a call that started: its result, or the error the model is told. A late result of a detached tool never comes. */
export interface ToolExecutionEndEvent extends EventBase {
  type: 'toolExecutionEnd'
  toolCallId: string
  toolName: string
  result: ToolResult
  isError: boolean
  childLoopId?: string
}

/** One line of status text from a running call, in the order the tool sent them. */
export interface ProgressMessageEvent extends EventBase {
  type: 'progressMessage'
  toolCallId: string
  toolName: string
  text: string
}

/** A call waits for `run.approve(event)` or `run.deny(event)`. The calls of sub-agents rise to the run that can answer. */
export interface ApprovalRequestedEvent extends EventBase, PendingApproval {
  type: 'approvalRequested'
}

/** The one answer to an `approvalRequested`; `approved` is false too when nobody answered in time or the run was stopped. */
export interface ApprovalResolvedEvent extends EventBase {
  type: 'approvalResolved'
  toolCallId: string
  toolName: string
  approved: boolean
  reason?: string
  /** As in the request. */
  subAgent?: SubAgentRef
}

/** A running call asks a person something, and waits for `run.answer(event, answer)`. Source: docs/concepts/approval.md */
export interface InputRequestedEvent extends EventBase, PendingInput {
  type: 'inputRequested'
}

/** The one end of an `inputRequested`. What was filled in goes to the call alone. `cancel` also when nobody answered in time, or the call is over. */
export interface InputResolvedEvent extends EventBase {
  type: 'inputResolved'
  inputId: string
  toolCallId: string
  toolName: string
  action: 'accept' | 'decline' | 'cancel'
  /** Why nobody is asked any more. */
  reason?: string
  /** As in the request. */
  subAgent?: SubAgentRef
}

/** A model call failed and is repeated after `delayMs`. */
export interface ProviderRetryEvent extends EventBase {
  type: 'providerRetry'
  turnIndex: number
  /** The retry about to be made, from 1. */
  attempt: number
  maxRetries: number
  delayMs: number
  error: RunFailure
  /** True when output of the failed call was already shown: its message ended with an error and a new one will start. */
  afterOutput: boolean
}

/** An input filter refused what the user said. */
export interface InputRejectedEvent extends EventBase {
  type: 'inputRejected'
  reason: string
}

/**
 * What the model is about to be sent, once per turn and before the first attempt; the same for every retry. Only where
 * `captureTurnRequests` is on. After a compaction made necessary by `contextOverflow` it comes again, with `afterOverflow`.
 * Source: docs/concepts/events.md
 */
export interface TurnRequestEvent extends EventBase {
  type: 'turnRequest'
  turnIndex: number
  request: AnnotatedRequest
  afterOverflow?: true
}

/** A compaction begins; it ends with one `compactionEnded`. Not emitted where there is nothing to compact. Source: docs/concepts/events.md */
export interface CompactionStartedEvent extends EventBase {
  type: 'compactionStarted'
  /** Estimate. */
  estimatedTokens: number
  messageCount: number
}

/** A compaction has ended. The figures are those of what is sent; equal ones mean that it failed or was stopped. */
export interface CompactionEndedEvent extends EventBase {
  type: 'compactionEnded'
  messagesBefore: number
  messagesAfter: number
  /** Estimates. */
  estimatedTokensBefore: number
  estimatedTokensAfter: number
  loopsCompacted: number
  /** Of the models that it asked; absent where it asked none. */
  usage?: Usage
  /** Why nothing came of it. */
  error?: RunFailure
}

/** The model had messages taken out of what it is sent. Source: docs/concepts/events.md */
export interface PrunAppliedEvent extends EventBase {
  type: 'prunApplied'
  /** Estimate. */
  tokensRemoved: number
  messagesRemoved: number
  /** Ids of the messages that are not sent any more. */
  prunedMessageIds: string[]
  memo?: string
}

/** The model asked to go back; one for each request, also for one that was refused. Source: docs/concepts/events.md */
export interface RevertAppliedEvent extends EventBase {
  type: 'revertApplied'
  category: RevertCategory
  target: number
  abandonedNodeIds: number[]
  summary?: string
  applied: boolean
  /** Why it was refused. */
  reason?: string
}

/** Branches of one prompt begin; each then reports under its own `loopId`. Source: docs/concepts/events.md */
export interface ParallelLoopStartEvent extends EventBase {
  type: 'parallelLoopStart'
  /** In the order of the configurations. */
  loopIds: string[]
}

/** One branch was chosen. */
export interface ParallelLoopEndEvent extends EventBase {
  type: 'parallelLoopEnd'
  selectedLoopId: string
  selectedConfigIndex: number
  /** Tokens of the judge; zero without one. */
  evaluationUsage: Usage
  /** Why, in the words of the judge, where it said so. Somebody's text: show it as such. */
  reason?: string
}

/** An event of a loop that a tool started, where the tool passes them on. `event` carries the ids and the cursor of that loop. */
export interface ChildEvent extends EventBase {
  type: 'childEvent'
  toolCallId: string
  toolName: string
  event: AgentEvent
}

/**
 * Everything a run reports, flat, discriminated on `type`.
 *
 * **Ordering** (docs/concepts/events.md)
 * ```
 * agentStart (turnStart (messageStart messageEnd)* (compactionStarted compactionEnded)? turnRequest?
 *   (messageStart messageUpdate* messageEnd | providerRetry)*
 *   (approvalRequested approvalResolved)* toolExecutionStart
 *   (toolExecutionUpdate | progressMessage | childEvent | inputRequested inputResolved)* toolExecutionEnd
 *   messageStart messageEnd … (prunApplied | revertApplied)* turnEnd)* inputRejected? agentEnd
 * ```
 * Every `…Start` has its `…End`, whatever happened; a `beforeLoop` hook that says no, or throws, leaves `agentEnd` alone. Calls of one message
 * interleave; a person may be asked more than once about a call. A call that still waits when the run ends `paused` has no `toolExecution…`
 * events yet. A compaction that was asked for comes without a turn.
 */
export type AgentEvent =
  | AgentStartEvent
  | AgentEndEvent
  | TurnStartEvent
  | TurnEndEvent
  | MessageStartEvent
  | MessageUpdateEvent
  | MessageEndEvent
  | ToolExecutionStartEvent
  | ToolExecutionUpdateEvent
  | ToolExecutionEndEvent
  | ProgressMessageEvent
  | ApprovalRequestedEvent
  | ApprovalResolvedEvent
  | InputRequestedEvent
  | InputResolvedEvent
  | ProviderRetryEvent
  | InputRejectedEvent
  | TurnRequestEvent
  | CompactionStartedEvent
  | CompactionEndedEvent
  | PrunAppliedEvent
  | RevertAppliedEvent
  | ParallelLoopStartEvent
  | ParallelLoopEndEvent
  | ChildEvent
