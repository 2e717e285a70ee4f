import { aFlag, aJsonObject, aText, type FieldsOf, oneOf, optional } from '../shape/shape.ts'
import { callOutcome, toolResult } from '../tool/tool-result.ts'
import { clientCallOutcome, eventOf, pendingApprovalFields, pendingClientCallFields, pendingInputFields, subAgentRef } from './run-facts.ts'

const toolExecutionStart = {
  ...eventOf('toolExecutionStart'),
  toolCallId: aText,
  toolName: aText,
  args: aJsonObject,
}

/** A tool call starts. `args` are the model's arguments; the tool gets them parsed by its schema. */
export interface ToolExecutionStartEvent extends FieldsOf<typeof toolExecutionStart> {}

const toolExecutionUpdate = {
  ...eventOf('toolExecutionUpdate'),
  toolCallId: aText,
  toolName: aText,
  partialResult: toolResult,
}

/** Latest partial result of a running call. A slow reader gets only the newest per call. */
export interface ToolExecutionUpdateEvent extends FieldsOf<typeof toolExecutionUpdate> {}

const toolExecutionEnd = {
  ...eventOf('toolExecutionEnd'),
  toolCallId: aText,
  toolName: aText,
  result: toolResult,
  isError: aFlag,
  childLoopId: optional(aText),
  /** The call started in an earlier loop whose process ended. The result is the replacement that the model gets. */
  outcome: optional(callOutcome),
}

/** End of a started call, exactly once: its result, or the error for the model. A late result of a detached tool emits nothing. */
export interface ToolExecutionEndEvent extends FieldsOf<typeof toolExecutionEnd> {}

const progressMessage = {
  ...eventOf('progressMessage'),
  toolCallId: aText,
  toolName: aText,
  text: aText,
}

/** One line of status text from a running call, in the order the tool sent them. */
export interface ProgressMessageEvent extends FieldsOf<typeof progressMessage> {}

const backgroundCall = { backgroundId: aText, toolCallId: aText, toolName: aText }
const backgroundStart = {
  ...eventOf('backgroundStart'),
  ...backgroundCall,
  /** Description of the task. */
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

/** End of a background task, exactly once, before the `agentEnd` of the run. The report to the model is a separate message. */
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
  /** Reason of the denial, or why the request was withdrawn. */
  reason: optional(aText),
  /** As in the request. */
  subAgent: optional(subAgentRef),
}
const approvalResolved = { ...eventOf('approvalResolved'), ...callResolved, approved: aFlag }

/** Decision about an `approvalRequested`, exactly once. `approved` is also false on a timeout or if the run was stopped. */
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

/** End of an `inputRequested`, exactly once. Submitted values go only to the call. `cancel` also on a timeout, or if the call has ended. */
export interface InputResolvedEvent extends FieldsOf<typeof inputResolved> {}

const clientCallRequested = {
  ...eventOf('clientCallRequested'),
  ...pendingClientCallFields,
}

/** A client tool call waits for `run.answerCall(event, answer)`. Source: docs/concepts/tools.md */
export interface ClientCallRequestedEvent extends FieldsOf<typeof clientCallRequested> {}

const clientCallResolved = { ...eventOf('clientCallResolved'), ...callResolved, outcome: clientCallOutcome }

/** End of a `clientCallRequested`, exactly once. The result is in the following `toolExecutionEnd`, unless the run is paused. */
export interface ClientCallResolvedEvent extends FieldsOf<typeof clientCallResolved> {}

/** Approval of a tool call. */
export const approvalEvents = { approvalRequested, approvalResolved }

/** The events of calls, by type. */
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
