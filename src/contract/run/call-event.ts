import { aFlag, aJsonObject, aText, type FieldsOf, oneOf, optional } from '../shape/shape.ts'
import { callOutcome, toolResult } from '../tool/tool-result.ts'
import { clientCallOutcome, eventOf, pendingApprovalFields, pendingClientCallFields, pendingInputFields, subAgentRef } from './run-facts.ts'

const toolExecutionStart = {
  ...eventOf('toolExecutionStart'),
  toolCallId: aText,
  toolName: aText,
  args: aJsonObject,
}

/** A call is about to be answered. `args` is what the model wrote; the tool gets it as its schema parsed it. */
export interface ToolExecutionStartEvent extends FieldsOf<typeof toolExecutionStart> {}

const toolExecutionUpdate = {
  ...eventOf('toolExecutionUpdate'),
  toolCallId: aText,
  toolName: aText,
  partialResult: toolResult,
}

/** The latest partial result of a running call; a slow reader gets only the newest per call. */
export interface ToolExecutionUpdateEvent extends FieldsOf<typeof toolExecutionUpdate> {}

const toolExecutionEnd = {
  ...eventOf('toolExecutionEnd'),
  toolCallId: aText,
  toolName: aText,
  result: toolResult,
  isError: aFlag,
  childLoopId: optional(aText),
  /** The call began in an earlier loop, whose process ended while it ran. The result is what the model is told in its place. */
  outcome: optional(callOutcome),
}

/** The one end of a call that started: its result, or the error the model is told. A late result of a detached tool never comes. */
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
  /** What it is to do. */
  task: aText,
}

/** What a call began goes on beside the run, after the call. Source: docs/concepts/several-agents.md */
export interface BackgroundStartEvent extends FieldsOf<typeof backgroundStart> {}

const backgroundEnd = {
  ...eventOf('backgroundEnd'),
  ...backgroundCall,
  result: toolResult,
  isError: aFlag,
  childLoopId: optional(aText),
}

/** The one end of a `backgroundStart`, before the `agentEnd` of the run. The report to the model is a message of its own. */
export interface BackgroundEndEvent extends FieldsOf<typeof backgroundEnd> {}

const approvalRequested = {
  ...eventOf('approvalRequested'),
  ...pendingApprovalFields,
}

/** A call waits for `run.approve(event)` or `run.deny(event)`. The calls of sub-agents rise to the run that can answer. */
export interface ApprovalRequestedEvent extends FieldsOf<typeof approvalRequested> {}

const callResolved = {
  toolCallId: aText,
  toolName: aText,
  /** Why it was refused, or why nobody is asked any more. */
  reason: optional(aText),
  /** As in the request. */
  subAgent: optional(subAgentRef),
}
const approvalResolved = { ...eventOf('approvalResolved'), ...callResolved, approved: aFlag }

/** The one answer to an `approvalRequested`; `approved` is false too when nobody answered in time or the run was stopped. */
export interface ApprovalResolvedEvent extends FieldsOf<typeof approvalResolved> {}

const inputRequested = {
  ...eventOf('inputRequested'),
  ...pendingInputFields,
}

/** A running call asks a person something, and waits for `run.answer(event, answer)`. Source: docs/concepts/approval.md */
export interface InputRequestedEvent extends FieldsOf<typeof inputRequested> {}

/** What a person may do about a request for input. */
export const inputAction = oneOf('accept', 'decline', 'cancel')
const inputResolved = { ...eventOf('inputResolved'), ...callResolved, inputId: aText, action: inputAction }

/** The one end of an `inputRequested`. The values that were filled in go to the call alone. `cancel` also when nobody answered in time, or the call is over. */
export interface InputResolvedEvent extends FieldsOf<typeof inputResolved> {}

const clientCallRequested = {
  ...eventOf('clientCallRequested'),
  ...pendingClientCallFields,
}

/** A page is to run a call, and waits for `run.answerCall(event, answer)`. Source: docs/concepts/tools.md */
export interface ClientCallRequestedEvent extends FieldsOf<typeof clientCallRequested> {}

const clientCallResolved = { ...eventOf('clientCallResolved'), ...callResolved, outcome: clientCallOutcome }

/** The one end of a `clientCallRequested`. The result is in the `toolExecutionEnd` that follows, unless the run is paused. */
export interface ClientCallResolvedEvent extends FieldsOf<typeof clientCallResolved> {}

/** A person is asked whether a call may run. */
export const approvalEvents = { approvalRequested, approvalResolved }

/** The events of calls, by their type. */
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
