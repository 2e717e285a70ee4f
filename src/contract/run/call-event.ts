import { aFlag, aJsonObject, aText, type FieldsOf, oneOf, optional } from '../shape/shape.ts'
import { editedArguments } from '../tool/edited-arguments.ts'
import { callOutcome, toolResult } from '../tool/tool-result.ts'
import { clientCallOutcome, eventOf, pendingApprovalFields, pendingClientCallFields, pendingInputFields, subAgentRef } from './run-facts.ts'

const toolExecutionStart = {
  ...eventOf('toolExecutionStart'),
  toolCallId: aText,
  toolName: aText,
  args: aJsonObject,
}

/** A tool call starts. `args` contains the executed arguments. The tool receives them parsed by its schema. */
export interface ToolExecutionStartEvent extends FieldsOf<typeof toolExecutionStart> {}

const toolExecutionUpdate = {
  ...eventOf('toolExecutionUpdate'),
  toolCallId: aText,
  toolName: aText,
  partialResult: toolResult,
}

/** Latest partial result of a running call. A slow reader receives only the newest per call. */
export interface ToolExecutionUpdateEvent extends FieldsOf<typeof toolExecutionUpdate> {}

const toolExecutionEnd = {
  ...eventOf('toolExecutionEnd'),
  toolCallId: aText,
  toolName: aText,
  result: toolResult,
  isError: aFlag,
  childLoopId: optional(aText),
  /** Set if the call started in an earlier loop whose process ended. The result is the replacement that the model gets. */
  outcome: optional(callOutcome),
}

/** A started call ended, with its result or the error for the model. Emitted exactly once. Late results of detached tools emit nothing. */
export interface ToolExecutionEndEvent extends FieldsOf<typeof toolExecutionEnd> {}

const progressMessage = {
  ...eventOf('progressMessage'),
  toolCallId: aText,
  toolName: aText,
  text: aText,
}

/** One line of status text from a running call. Lines arrive in order. */
export interface ProgressMessageEvent extends FieldsOf<typeof progressMessage> {}

const backgroundCall = { backgroundId: aText, toolCallId: aText, toolName: aText }
const backgroundStart = {
  ...eventOf('backgroundStart'),
  ...backgroundCall,
  /** The task's description. */
  task: aText,
}

/** A tool call started a background task, which continues after the call. Source: docs/concepts/several-agents.md */
export interface BackgroundStartEvent extends FieldsOf<typeof backgroundStart> {}

const backgroundEnd = {
  ...eventOf('backgroundEnd'),
  ...backgroundCall,
  result: toolResult,
  isError: aFlag,
  childLoopId: optional(aText),
}

/** A background task ended. Emitted exactly once, before the run's `agentEnd`. The report to the model is a separate message. */
export interface BackgroundEndEvent extends FieldsOf<typeof backgroundEnd> {}

const approvalRequested = {
  ...eventOf('approvalRequested'),
  ...pendingApprovalFields,
}

/** A tool call waits for `run.approve(event)` or `run.deny(event)`. Calls of sub-agents are forwarded to the run that can respond. */
export interface ApprovalRequestedEvent extends FieldsOf<typeof approvalRequested> {}

const callResolved = {
  toolCallId: aText,
  toolName: aText,
  /** Reason of the denial or withdrawal. */
  reason: optional(aText),
  /** Same value as in the request. */
  subAgent: optional(subAgentRef),
}
const approvalResolved = {
  ...eventOf('approvalResolved'),
  ...callResolved,
  approved: aFlag,
  /** Who approved the call, if given. */
  by: optional(aText),
  /** Arguments that replace those in the request. */
  edited: optional(editedArguments),
}

/** Decision about an `approvalRequested`, emitted exactly once. `approved` is also `false` on a timeout or if the run was stopped. */
export interface ApprovalResolvedEvent extends FieldsOf<typeof approvalResolved> {}

const inputRequested = {
  ...eventOf('inputRequested'),
  ...pendingInputFields,
}

/** A running call requests user input and waits for `run.answer(event, answer)`. Source: docs/concepts/approval.md */
export interface InputRequestedEvent extends FieldsOf<typeof inputRequested> {}

/** Possible responses to a user input request. */
export const inputAction = oneOf('accept', 'decline', 'cancel')
const inputResolved = { ...eventOf('inputResolved'), ...callResolved, inputId: aText, action: inputAction }

/**
 * Outcome of an `inputRequested`, emitted exactly once. Only the call receives the submitted values. The action is `cancel` on a timeout or
 * if the call has ended.
 */
export interface InputResolvedEvent extends FieldsOf<typeof inputResolved> {}

const clientCallRequested = {
  ...eventOf('clientCallRequested'),
  ...pendingClientCallFields,
}

/** A client tool call waits for `run.answerCall(event, answer)`. Source: docs/concepts/tools.md */
export interface ClientCallRequestedEvent extends FieldsOf<typeof clientCallRequested> {}

const clientCallResolved = { ...eventOf('clientCallResolved'), ...callResolved, outcome: clientCallOutcome }

/**
 * Outcome of a `clientCallRequested`, emitted exactly once. The following `toolExecutionEnd` contains the result, unless the run is paused.
 */
export interface ClientCallResolvedEvent extends FieldsOf<typeof clientCallResolved> {}

/** Approval of a tool call. */
export const approvalEvents = { approvalRequested, approvalResolved }

/** Tool call events by type. */
export const callEvents = {
  toolExecutionStart,
  toolExecutionUpdate,
  toolExecutionEnd,
  progressMessage,
  ...approvalEvents,
  inputRequested,
  inputResolved,
  clientCallRequested,
  clientCallResolved,
  backgroundStart,
  backgroundEnd,
}
