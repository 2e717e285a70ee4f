import type { AgentMessage, AssistantMessage } from '../../contract/message/message.ts'
import { emptyUsage } from '../../contract/model/usage.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { PendingApproval, PendingClientCall } from '../../contract/run/run-facts.ts'
import { aFlag, aFunction, anything, aText, listOf, type OptionTable } from '../../contract/shape/shape.ts'
import type { WaitingForPerson } from './open-calls.ts'

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

/** Turns the events of one run into the frames of one response. */
export interface RunEncoder<Frame> {
  /** The frames for `event`; any number. After the end of the run: none. */
  encode(event: AgentEvent): Frame[]
  /** Takes note of an event that the client has seen in a response before this one. */
  skip(event: AgentEvent): void
  /** Whether the run waits for what the client says in another request, which it sends only after this response has ended: end it with `suspend`. */
  readonly waiting: WaitingForPerson
  /** The last frames of a response whose run goes on elsewhere. */
  suspend(): Frame[]
  /** The last frames when the events have ended without `agentEnd`; none after it. */
  end(): Frame[]
  /** The last frames when the events could not be read on; none after `agentEnd`. Errors that are not ours are not shown. */
  fail(error: unknown): Frame[]
}

/** The headers of every stream of events for a page. */
export const streamHeaders = {
  'content-type': 'text/event-stream',
  // Where an answer may be stored, Firefox has a second tab wait for the end of the first one's.
  'cache-control': 'no-store',
  // Proxies such as nginx would collect the whole answer first.
  'x-accel-buffering': 'no',
} as const

/** What of a run a client may see. */
export interface ShownEvents {
  /** Whether `turnRequest` events are shown. They hold the system prompt and everything the model is told. Default `false`. */
  turnRequests?: boolean
}

/** Whether `event` stays on the server: a `turnRequest`, also that of a child, unless `shown` asks for them. */
export function isWithheld(event: AgentEvent, shown: ShownEvents): boolean {
  return shown.turnRequests !== true && isRequest(event)
}

function isRequest(event: AgentEvent): boolean {
  return event.type === 'turnRequest' || (event.type === 'childEvent' && isRequest(event.event))
}

/**
 * `event` as it was when it was emitted, for every reader at any time: an answer that begins is the empty message it was, not the live view
 * that has grown since. What it says follows as deltas, and whole in `messageEnd`. The same object where nothing differs.
 */
export function asEmitted(event: AgentEvent): AgentEvent {
  if (event.type === 'childEvent') return { ...event, event: asEmitted(event.event) }
  return event.type === 'messageStart' ? { ...event, message: asStarted(event.message) } : event
}

function asStarted(message: AgentMessage): AgentMessage {
  if (message.role !== 'assistant') return message
  const { errorMessage: _later, ...known } = message
  return { ...known, content: [], stopReason: 'stop', usage: emptyUsage() }
}

/** What `event` says besides what every event says. */
export function bodyOf(event: AgentEvent): object {
  const { type: _type, runId: _run, seq: _seq, at: _at, sessionId: _session, loopId: _loop, ...body } = asEmitted(event)
  return body
}
