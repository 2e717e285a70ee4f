import { revertCategory } from '../context/context-change.ts'
import { serviceToolError } from '../message/content.ts'
import { dataFields } from '../message/data-part.ts'
import { agentMessage } from '../message/message.ts'
import { annotatedRequest, streamDelta, type TextDelta } from '../model/request.ts'
import { usage } from '../model/usage.ts'
import { stateChangeFields } from '../session/shared-state.ts'
import {
  aFlag,
  aNumber,
  aNumberFromZero,
  aText,
  type FieldsOf,
  isTrue,
  json,
  listOf,
  oneOf,
  optional,
  options,
  required,
  type ShapeOf,
  tagged,
} from '../shape/shape.ts'
import {
  type ApprovalRequestedEvent,
  type ApprovalResolvedEvent,
  type BackgroundEndEvent,
  type BackgroundStartEvent,
  type ClientCallRequestedEvent,
  type ClientCallResolvedEvent,
  callEvents,
  type InputRequestedEvent,
  type InputResolvedEvent,
  type ProgressMessageEvent,
  type ToolExecutionEndEvent,
  type ToolExecutionStartEvent,
  type ToolExecutionUpdateEvent,
} from './call-event.ts'
import {
  continuationKind,
  endedBy,
  eventOf,
  loopConfigSnapshot,
  pendingApproval,
  pendingClientCall,
  runFailure,
  runStatus,
} from './run-facts.ts'
import { reachedLimit } from './settings.ts'
import {
  type ModelFallbackEvent,
  modelFallback,
  type RateLimitsEvent,
  rateLimitsEvent,
  type TurnEndEvent,
  type TurnPreparedEvent,
  type TurnStartEvent,
  turnEnd,
  turnPrepared,
  turnStart,
} from './turn-event.ts'

const agentStart = {
  ...eventOf('agentStart'),
  agentId: aText,
  /** Name of the sub-agent or agent, if set. */
  agentName: optional(aText),
  parentLoopId: optional(aText),
  continuationKind,
  configSnapshot: loopConfigSnapshot,
  /** `metadata` of the prompt, unchanged. */
  metadata: optional(json),
  /** Names of client tools, if any. */
  clientTools: optional(listOf(aText)),
}

/** A loop's first event: its agent, parent loop and configuration. Source: docs/reference/events.md */
export interface AgentStartEvent extends FieldsOf<typeof agentStart> {}

const agentEnd = {
  ...eventOf('agentEnd'),
  status: runStatus,
  /** Messages that this loop added to the history. */
  messages: listOf(agentMessage),
  /** Usage of the loop's own model calls. */
  usage,
  /** Usage including sub-agents, compactions and tools that call models. Absent in events of older versions. */
  totalUsage: optional(usage),
  /** Cost of `totalUsage` in USD, at each model's rates. Absent if any part has no price. */
  costUsd: optional(aNumberFromZero),
  error: optional(runFailure),
  /** Present if `status` is `limit`. */
  limit: optional(reachedLimit),
  /** Present if a condition or a tool ended a completed run. */
  endedBy: optional(endedBy),
  /** Reason and origin of the rejection: an input filter or a hook. */
  rejection: optional(aText),
  pendingApprovals: optional(listOf(pendingApproval)),
  pendingClientCalls: optional(listOf(pendingClientCall)),
  /** Input that the run did not add to the history, if any. */
  returned: optional(listOf(agentMessage)),
}

/** A loop's last event, always emitted exactly once. */
export interface AgentEndEvent extends FieldsOf<typeof agentEnd> {}

const data = {
  ...eventOf('data'),
  ...dataFields,
  /** Whether the part is only sent to connected clients and not stored. */
  transient: optional(isTrue),
  /** Id of the tool call that sent the part. Absent for hooks and plugins. */
  toolCallId: optional(aText),
}

/** A data part for user interfaces, from a tool, hook or plugin. Replaces an earlier part of the same `name` and `dataId`. */
export interface DataEvent extends FieldsOf<typeof data> {}

const messageStart = {
  ...eventOf('messageStart'),
  messageId: aText,
  message: agentMessage,
}

/** A message starts. For assistant messages, `message` is a live view that grows until `messageEnd`. Others are complete. */
export interface MessageStartEvent extends FieldsOf<typeof messageStart> {}

const messageUpdate = {
  ...eventOf('messageUpdate'),
  messageId: aText,
  delta: streamDelta,
  /** Present if this event merges several for a slow reader: it covers `fromSeq` to `seq`. */
  fromSeq: optional(aNumber),
}

/** One increment of a message; `run.message(messageId)` returns the whole message so far. */
export interface MessageUpdateEvent extends FieldsOf<typeof messageUpdate> {}

const messageEnd = {
  ...eventOf('messageEnd'),
  messageId: aText,
  message: agentMessage,
}

/** A message update that adds text. */
export interface TextUpdateEvent extends MessageUpdateEvent {
  delta: TextDelta
}

/** Returns whether an update adds text. Such updates can be merged. */
export function isTextUpdate(event: MessageUpdateEvent): event is TextUpdateEvent {
  return 'delta' in event.delta
}

/** A message is complete, in the history and, with a journal, durable. The message never changes afterwards. */
export interface MessageEndEvent extends FieldsOf<typeof messageEnd> {}

const serviceToolCall = { messageId: aText, toolCallId: aText, toolName: aText }
const serviceToolStart = { ...eventOf('serviceToolStart'), ...serviceToolCall }

/** A provider-executed tool started. Its content block has the details. */
export interface ServiceToolStartEvent extends FieldsOf<typeof serviceToolStart> {}

const serviceToolEnd = {
  ...eventOf('serviceToolEnd'),
  ...serviceToolCall,
  /** `open`: the message ended before the call finished. A later message contains the outcome. */
  outcome: oneOf('done', 'failed', 'open'),
  error: optional(serviceToolError),
}

/** A provider-executed tool ended, or the message ended before the tool finished. */
export interface ServiceToolEndEvent extends FieldsOf<typeof serviceToolEnd> {}

const providerRetry = {
  ...eventOf('providerRetry'),
  turnIndex: aNumber,
  /** Number of the next retry, starting at 1. */
  attempt: aNumber,
  maxRetries: aNumber,
  delayMs: aNumber,
  error: runFailure,
  /** Whether the failed call's output was already emitted. If so, its message ended with an error, and a new message follows. */
  afterOutput: aFlag,
}

/** A model call failed and is retried after `delayMs`. */
export interface ProviderRetryEvent extends FieldsOf<typeof providerRetry> {}

const inputRejected = {
  ...eventOf('inputRejected'),
  reason: aText,
}

/** An input filter rejected user input. */
export interface InputRejectedEvent extends FieldsOf<typeof inputRejected> {}

const turnRequest = {
  ...eventOf('turnRequest'),
  turnIndex: aNumber,
  request: annotatedRequest,
  afterOverflow: optional(isTrue),
}

/**
 * A turn's request, before its first attempt; the same for every retry. Emitted only with `captureTurnRequests`. Emitted again with
 * `afterOverflow` if `contextOverflow` forced a compaction. Source: docs/reference/events.md
 */
export interface TurnRequestEvent extends FieldsOf<typeof turnRequest> {}

const compactionStarted = {
  ...eventOf('compactionStarted'),
  /** Estimate. */
  estimatedTokens: aNumber,
  messageCount: aNumber,
}

/** A compaction starts; one `compactionEnded` follows. Not emitted if there is nothing to compact. Source: docs/reference/events.md */
export interface CompactionStartedEvent extends FieldsOf<typeof compactionStarted> {}

const compactionEnded = {
  ...eventOf('compactionEnded'),
  messagesBefore: aNumber,
  messagesAfter: aNumber,
  /** Estimates. */
  estimatedTokensBefore: aNumber,
  estimatedTokensAfter: aNumber,
  loopsCompacted: aNumber,
  /** Usage of the compaction's model calls. Absent if it made none. */
  usage: optional(usage),
  /** Why the compaction failed. */
  error: optional(runFailure),
}

/** A compaction ended. Figures describe the request before and after. Equal figures mean that the compaction failed or was stopped. */
export interface CompactionEndedEvent extends FieldsOf<typeof compactionEnded> {}

const prunApplied = {
  ...eventOf('prunApplied'),
  /** Estimate. */
  tokensRemoved: aNumber,
  messagesRemoved: aNumber,
  /** Ids of messages that are no longer sent. */
  prunedMessageIds: listOf(aText),
  memo: optional(aText),
}

/** The model pruned messages from its requests. Source: docs/reference/events.md */
export interface PrunAppliedEvent extends FieldsOf<typeof prunApplied> {}

const revertApplied = {
  ...eventOf('revertApplied'),
  category: revertCategory,
  target: aNumber,
  abandonedNodeIds: listOf(aNumber),
  summary: optional(aText),
  applied: aFlag,
  /** Why the revert was refused. */
  reason: optional(aText),
}

/** The model requested a revert; one event per request, including refused ones. Source: docs/reference/events.md */
export interface RevertAppliedEvent extends FieldsOf<typeof revertApplied> {}

const sharedStateChanged = {
  ...eventOf('sharedStateChanged'),
  ...stateChangeFields,
  /** SHA-256 of the resulting state. */
  hash: aText,
}

/** A tool, a client or the application changed the shared state during the run. Source: docs/guides/shared-state.md */
export interface SharedStateChangedEvent extends FieldsOf<typeof sharedStateChanged> {}

const parallelLoopStart = {
  ...eventOf('parallelLoopStart'),
  /** Loop ids of the branches, in configuration order. */
  loopIds: listOf(aText),
}

/** A parallel loop's branches start. Each emits events with a separate `loopId`. Source: docs/reference/events.md */
export interface ParallelLoopStartEvent extends FieldsOf<typeof parallelLoopStart> {}

const parallelLoopEnd = {
  ...eventOf('parallelLoopEnd'),
  selectedLoopId: aText,
  selectedConfigIndex: aNumber,
  /** The judge's token usage. Zero without a judge. */
  evaluationUsage: usage,
  /** The judge's reason, if any. Untrusted text. */
  reason: optional(aText),
}

/** One branch was selected. */
export interface ParallelLoopEndEvent extends FieldsOf<typeof parallelLoopEnd> {}

/** An event that is not validated, because most of a log is events and nested loops validate their own. */
export const anyEvent: ShapeOf<AgentEvent> = options({ type: required(aText) }, true)
const childEvent = {
  ...eventOf('childEvent'),
  toolCallId: aText,
  toolName: aText,
  event: anyEvent,
}

/** An event of a nested loop, forwarded by a tool. `event` contains the ids and cursor of the nested loop. */
export interface ChildEvent extends FieldsOf<typeof childEvent> {}

/**
 * All events of a run, flat, discriminated on `type`.
 *
 * **Ordering** (docs/reference/events.md)
 * ```
 * agentStart (turnStart (messageStart messageEnd)* (compactionStarted compactionEnded)? turnRequest?
 *   (messageStart (messageUpdate | serviceToolStart | serviceToolEnd)* messageEnd | providerRetry)*
 *   (approvalRequested approvalResolved)* (clientCallRequested clientCallResolved)? toolExecutionStart
 *   (toolExecutionUpdate | progressMessage | childEvent | inputRequested inputResolved)* toolExecutionEnd
 *   messageStart messageEnd … (prunApplied | revertApplied)* turnEnd)* inputRejected? agentEnd
 * ```
 * - Every `…Start` has its `…End`, on every path. If `beforeLoop` refuses or throws, only `agentEnd` is emitted.
 * - Calls of one message interleave. A call may request more than one approval. A call that is pending when the run ends `paused` has no
 *   `toolExecution…` events yet.
 * - A compaction on request happens outside of a turn.
 * - `backgroundStart` is emitted within its call. `backgroundEnd`, and the `progressMessage`, `childEvent` and input events of the task,
 *   are emitted at any time before `agentEnd`. So are `sharedStateChanged` and `data`.
 */
export type AgentEvent =
  | AgentStartEvent
  | AgentEndEvent
  | TurnStartEvent
  | TurnPreparedEvent
  | ModelFallbackEvent
  | RateLimitsEvent
  | TurnEndEvent
  | MessageStartEvent
  | MessageUpdateEvent
  | MessageEndEvent
  | DataEvent
  | ToolExecutionStartEvent
  | ToolExecutionUpdateEvent
  | ToolExecutionEndEvent
  | ProgressMessageEvent
  | ApprovalRequestedEvent
  | ApprovalResolvedEvent
  | InputRequestedEvent
  | InputResolvedEvent
  | ClientCallRequestedEvent
  | ClientCallResolvedEvent
  | BackgroundStartEvent
  | BackgroundEndEvent
  | ServiceToolStartEvent
  | ServiceToolEndEvent
  | ProviderRetryEvent
  | InputRejectedEvent
  | TurnRequestEvent
  | CompactionStartedEvent
  | CompactionEndedEvent
  | PrunAppliedEvent
  | RevertAppliedEvent
  | SharedStateChangedEvent
  | ParallelLoopStartEvent
  | ParallelLoopEndEvent
  | ChildEvent

/** The event of one type: `EventOf<'messageUpdate'>`. */
export type EventOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { type: Type }>

/** All events, by type. */
export const agentEvent: ShapeOf<AgentEvent> = tagged('type', {
  agentStart,
  agentEnd,
  turnStart,
  turnPrepared,
  modelFallback,
  data,
  rateLimits: rateLimitsEvent,
  turnEnd,
  messageStart,
  messageUpdate,
  messageEnd,
  ...callEvents,
  serviceToolStart,
  serviceToolEnd,
  providerRetry,
  inputRejected,
  turnRequest,
  compactionStarted,
  compactionEnded,
  prunApplied,
  revertApplied,
  sharedStateChanged,
  parallelLoopStart,
  parallelLoopEnd,
  childEvent,
})
