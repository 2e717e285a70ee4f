import { revertCategory } from '../context/context-change.ts'
import { serviceToolError } from '../message/content.ts'
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
  /** That of the agent, or of the sub-agent, where it has one. */
  agentName: optional(aText),
  parentLoopId: optional(aText),
  continuationKind,
  configSnapshot: loopConfigSnapshot,
  /** What the caller passed to `prompt`, unchanged. */
  metadata: optional(json),
  /** Names of the tools that pages run, where there are any. */
  clientTools: optional(listOf(aText)),
}

/** The first event of a loop: who runs, as continuation of what, with which configuration. Source: docs/reference/events.md */
export interface AgentStartEvent extends FieldsOf<typeof agentStart> {}

const agentEnd = {
  ...eventOf('agentEnd'),
  status: runStatus,
  /** Messages this loop added to the history. */
  messages: listOf(agentMessage),
  /** Of the loop's own model calls. */
  usage,
  /** Also of all that was charged to it: sub-agents, compactions, tools that ask models. Absent in events of older versions. */
  totalUsage: optional(usage),
  /** USD of `totalUsage`, each answer at the rates of its own prompt and model; absent where something in it has no price. */
  costUsd: optional(aNumberFromZero),
  error: optional(runFailure),
  /** Present when `status` is `limit`. */
  limit: optional(reachedLimit),
  /** Present where a condition or a tool ended a completed run. */
  endedBy: optional(endedBy),
  /** What refused to go on, and why: an input filter, or a hook. */
  rejection: optional(aText),
  pendingApprovals: optional(listOf(pendingApproval)),
  pendingClientCalls: optional(listOf(pendingClientCall)),
  /** What the run was given and did not take into the history, where there is any. */
  returned: optional(listOf(agentMessage)),
}

/** The last event of a loop, on every path, exactly once. */
export interface AgentEndEvent extends FieldsOf<typeof agentEnd> {}

const messageStart = {
  ...eventOf('messageStart'),
  messageId: aText,
  message: agentMessage,
}

/** A message begins. For assistant messages `message` is the live view that grows until `messageEnd`; others are complete. */
export interface MessageStartEvent extends FieldsOf<typeof messageStart> {}

const messageUpdate = {
  ...eventOf('messageUpdate'),
  messageId: aText,
  delta: streamDelta,
  /** Present when this event stands for several that a slow reader missed: it covers `fromSeq` to `seq`. */
  fromSeq: optional(aNumber),
}

/** One increment; the whole message so far is `run.message(messageId)`. */
export interface MessageUpdateEvent extends FieldsOf<typeof messageUpdate> {}

const messageEnd = {
  ...eventOf('messageEnd'),
  messageId: aText,
  message: agentMessage,
}

/** An update by some text. */
export interface TextUpdateEvent extends MessageUpdateEvent {
  delta: TextDelta
}

/** Whether an update adds text: of such, several can stand as one. */
export function isTextUpdate(event: MessageUpdateEvent): event is TextUpdateEvent {
  return 'delta' in event.delta
}

/** A message is complete, in the history and (with a journal) durable; it is never changed again. */
export interface MessageEndEvent extends FieldsOf<typeof messageEnd> {}

const serviceToolCall = { messageId: aText, toolCallId: aText, toolName: aText }
const serviceToolStart = { ...eventOf('serviceToolStart'), ...serviceToolCall }

/** The service began to run a tool of its own. Its block in the message says more. */
export interface ServiceToolStartEvent extends FieldsOf<typeof serviceToolStart> {}

const serviceToolEnd = {
  ...eventOf('serviceToolEnd'),
  ...serviceToolCall,
  /** `open`: the message has ended first; what comes of the call is in a later one. */
  outcome: oneOf('done', 'failed', 'open'),
  error: optional(serviceToolError),
}

/** A tool of the service has ended, as far as this message tells. */
export interface ServiceToolEndEvent extends FieldsOf<typeof serviceToolEnd> {}

const providerRetry = {
  ...eventOf('providerRetry'),
  turnIndex: aNumber,
  /** The retry about to be made, from 1. */
  attempt: aNumber,
  maxRetries: aNumber,
  delayMs: aNumber,
  error: runFailure,
  /** True when output of the failed call was already shown: its message ended with an error and a new one will start. */
  afterOutput: aFlag,
}

/** A model call failed and is repeated after `delayMs`. */
export interface ProviderRetryEvent extends FieldsOf<typeof providerRetry> {}

const inputRejected = {
  ...eventOf('inputRejected'),
  reason: aText,
}

/** An input filter refused what the user said. */
export interface InputRejectedEvent extends FieldsOf<typeof inputRejected> {}

const turnRequest = {
  ...eventOf('turnRequest'),
  turnIndex: aNumber,
  request: annotatedRequest,
  afterOverflow: optional(isTrue),
}

/**
 * What the model is about to be sent, once per turn and before the first attempt; the same for every retry. Only where
 * `captureTurnRequests` is on. After a compaction made necessary by `contextOverflow` it comes again, with `afterOverflow`.
 * Source: docs/reference/events.md
 */
export interface TurnRequestEvent extends FieldsOf<typeof turnRequest> {}

const compactionStarted = {
  ...eventOf('compactionStarted'),
  /** Estimate. */
  estimatedTokens: aNumber,
  messageCount: aNumber,
}

/** A compaction begins; it ends with one `compactionEnded`. Not emitted where there is nothing to compact. Source: docs/reference/events.md */
export interface CompactionStartedEvent extends FieldsOf<typeof compactionStarted> {}

const compactionEnded = {
  ...eventOf('compactionEnded'),
  messagesBefore: aNumber,
  messagesAfter: aNumber,
  /** Estimates. */
  estimatedTokensBefore: aNumber,
  estimatedTokensAfter: aNumber,
  loopsCompacted: aNumber,
  /** Of the models that it asked; absent where it asked none. */
  usage: optional(usage),
  /** Why nothing came of it. */
  error: optional(runFailure),
}

/** A compaction has ended. The figures are those of what is sent; equal ones mean that it failed or was stopped. */
export interface CompactionEndedEvent extends FieldsOf<typeof compactionEnded> {}

const prunApplied = {
  ...eventOf('prunApplied'),
  /** Estimate. */
  tokensRemoved: aNumber,
  messagesRemoved: aNumber,
  /** Ids of the messages that are not sent any more. */
  prunedMessageIds: listOf(aText),
  memo: optional(aText),
}

/** The model had messages taken out of what it is sent. Source: docs/reference/events.md */
export interface PrunAppliedEvent extends FieldsOf<typeof prunApplied> {}

const revertApplied = {
  ...eventOf('revertApplied'),
  category: revertCategory,
  target: aNumber,
  abandonedNodeIds: listOf(aNumber),
  summary: optional(aText),
  applied: aFlag,
  /** Why it was refused. */
  reason: optional(aText),
}

/** The model asked to go back; one for each request, also for one that was refused. Source: docs/reference/events.md */
export interface RevertAppliedEvent extends FieldsOf<typeof revertApplied> {}

const sharedStateChanged = {
  ...eventOf('sharedStateChanged'),
  ...stateChangeFields,
  /** SHA-256 of the state that it made. */
  hash: aText,
}

/** What the session shares with its pages was changed while the run was on: by a tool of it, a page or the application. Source: docs/guides/shared-state.md */
export interface SharedStateChangedEvent extends FieldsOf<typeof sharedStateChanged> {}

const parallelLoopStart = {
  ...eventOf('parallelLoopStart'),
  /** In the order of the configurations. */
  loopIds: listOf(aText),
}

/** Branches of one prompt begin; each then reports under its own `loopId`. Source: docs/reference/events.md */
export interface ParallelLoopStartEvent extends FieldsOf<typeof parallelLoopStart> {}

const parallelLoopEnd = {
  ...eventOf('parallelLoopEnd'),
  selectedLoopId: aText,
  selectedConfigIndex: aNumber,
  /** Tokens of the judge; zero without one. */
  evaluationUsage: usage,
  /** Why, in the words of the judge, where it said so. Somebody's text: show it as such. */
  reason: optional(aText),
}

/** One branch was chosen. */
export interface ParallelLoopEndEvent extends FieldsOf<typeof parallelLoopEnd> {}

/** Some event that is not looked into: a log has more of them than of anything else, and a loop below checks its own. */
export const anyEvent: ShapeOf<AgentEvent> = options({ type: required(aText) }, true)
const childEvent = {
  ...eventOf('childEvent'),
  toolCallId: aText,
  toolName: aText,
  event: anyEvent,
}

/** An event of a loop that a tool started, where the tool passes them on. `event` carries the ids and the cursor of that loop. */
export interface ChildEvent extends FieldsOf<typeof childEvent> {}

/**
 * Everything a run reports, flat, discriminated on `type`.
 *
 * **Ordering** (docs/reference/events.md)
 * ```
 * agentStart (turnStart (messageStart messageEnd)* (compactionStarted compactionEnded)? turnRequest?
 *   (messageStart (messageUpdate | serviceToolStart | serviceToolEnd)* messageEnd | providerRetry)*
 *   (approvalRequested approvalResolved)* (clientCallRequested clientCallResolved)? toolExecutionStart
 *   (toolExecutionUpdate | progressMessage | childEvent | inputRequested inputResolved)* toolExecutionEnd
 *   messageStart messageEnd … (prunApplied | revertApplied)* turnEnd)* inputRejected? agentEnd
 * ```
 * Every `…Start` has its `…End`, whatever happened; a `beforeLoop` hook that says no, or throws, leaves `agentEnd` alone. Calls of one message
 * interleave; a person may be asked more than once about a call. A call that still waits when the run ends `paused` has no `toolExecution…`
 * events yet. A compaction that was asked for comes without a turn. What a call leaves to go on beside the run begins with `backgroundStart`, within the
 * call; its `progressMessage`, `childEvent` and questions, and its `backgroundEnd`, come at any time before `agentEnd`; so does
 * `sharedStateChanged`.
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

/** Every event, by its type. */
export const agentEvent: ShapeOf<AgentEvent> = tagged('type', {
  agentStart,
  agentEnd,
  turnStart,
  turnPrepared,
  modelFallback,
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
