import type { AgentMessage, AssistantMessage } from '../../contract/message/message.ts'
import { emptyUsage } from '../../contract/model/usage.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { PendingApproval, PendingClientCall } from '../../contract/run/run-facts.ts'
import { aFlag, aFunction, anything, aText, listOf, type OptionTable } from '../../contract/shape/shape.ts'
import type { WaitingForPerson } from './open-calls.ts'

/** Options of every run encoder. */
export interface RunEncoderOptions {
  /** The conversation before the first event. A run may continue its last response: after a pause, or for a retry. */
  history?: readonly AgentMessage[]
  /** Calls of `history` that wait for an approval. Default: those of a paused run. */
  approvals?: readonly PendingApproval[]
  /** Calls of `history` that wait for a client, like `approvals`. */
  clientCalls?: readonly PendingClientCall[]
  /** Sends the content of `history` first, for a client without it, such as one that resumes. Default: `false`. */
  restate?: boolean
  /** The id of a message in the middle of the run: the stream begins after it. Default: with the run. */
  replyTo?: string
  /** Returns the price of one response in USD; `undefined` if unknown. */
  cost?: (message: AssistantMessage) => number | undefined
}

/** Validates these options. */
export const runEncoderFields: OptionTable<RunEncoderOptions> = {
  history: listOf(anything),
  approvals: listOf(anything),
  clientCalls: listOf(anything),
  restate: aFlag,
  replyTo: aText,
  cost: aFunction,
}

/** Encodes the events of one run as the frames of one stream. */
export interface RunEncoder<Frame> {
  /** Returns the frames of `event`; none after the end of the run. */
  encode(event: AgentEvent): Frame[]
  /** Records an event that the client has received in an earlier stream. */
  skip(event: AgentEvent): void
  /** Returns whether the run waits for another request, which the client sends only after this stream has ended: end it with `suspend`. */
  readonly waiting: WaitingForPerson
  /** Returns the last frames of a stream whose run continues elsewhere. */
  suspend(): Frame[]
  /** Returns the last frames if the events ended without `agentEnd`; none after it. */
  end(): Frame[]
  /** Returns the last frames if reading the events failed; none after `agentEnd`. Foreign errors are not shown. */
  fail(error: unknown): Frame[]
}

/** Headers of every event stream for a browser. */
export const streamHeaders = {
  'content-type': 'text/event-stream',
  // If a response may be stored, Firefox lets a second tab wait for the end of the first one's.
  'cache-control': 'no-store',
  // Proxies such as nginx would buffer the whole response.
  'x-accel-buffering': 'no',
} as const

/** Events of a run that a client may see. */
export interface ShownEvents {
  /** Whether `turnRequest` events are sent. They contain the system prompt and the whole request. Default: `false`. */
  turnRequests?: boolean
}

/** Returns whether `event` stays on the server: a `turnRequest`, also of a child, unless `shown` allows it. */
export function isWithheld(event: AgentEvent, shown: ShownEvents): boolean {
  return shown.turnRequests !== true && isRequest(event)
}

function isRequest(event: AgentEvent): boolean {
  return event.type === 'turnRequest' || (event.type === 'childEvent' && isRequest(event.event))
}

/**
 * Returns `event` as it was when emitted, for late readers too: a started response is the empty message, not the live view that has grown
 * since. Its content follows as deltas, and whole in `messageEnd`. The same object if nothing differs.
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

/** Returns `event` without common fields. */
export function bodyOf(event: AgentEvent): object {
  const { type: _type, runId: _run, seq: _seq, at: _at, sessionId: _session, loopId: _loop, ...body } = asEmitted(event)
  return body
}
