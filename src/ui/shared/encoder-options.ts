import type { AgentMessage, AssistantMessage } from '../../contract/message/message.ts'
import type { PendingApproval, PendingClientCall } from '../../contract/run/run-facts.ts'
import { aFlag, aFunction, anything, aText, listOf, type OptionTable } from '../../contract/shape/shape.ts'

/** What every encoder of a run has to know besides the events. */
export interface RunEncoderOptions {
  /** The conversation before the first event. A run may go on with its last answer: after a pause, or when a model call is tried again. */
  history?: readonly AgentMessage[]
  /** The calls of `history` that wait for a person. Default: those that a paused run has left. */
  approvals?: readonly PendingApproval[]
  /** The calls of `history` that wait for a page, as `approvals`. */
  clientCalls?: readonly PendingClientCall[]
  /** Sends first what `history` holds, for a client that has none of it, such as one that resumes. Default `false`. */
  restate?: boolean
  /** The id of a message that the run hears in its middle: the response begins after it. Default: it begins with the run. */
  replyTo?: string
  /** The price of one answer of a model in USD; `undefined` where it is not known. */
  cost?: (message: AssistantMessage) => number | undefined
}

/** Checks these options. */
export const runEncoderFields: OptionTable<RunEncoderOptions> = {
  history: listOf(anything),
  approvals: listOf(anything),
  clientCalls: listOf(anything),
  restate: aFlag,
  replyTo: aText,
  cost: aFunction,
}
