import type { AgentMessage, AssistantMessage } from '../../contract/message/message.ts'
import { emptyUsage } from '../../contract/model/usage.ts'
import type { AgentEvent } from '../../contract/run/event.ts'
import type { PendingApproval, PendingClientCall } from '../../contract/run/run-facts.ts'
import { aFlag, aFunction, anything, aText, listOf, type OptionTable } from '../../contract/shape/shape.ts'
import type { WaitingForPerson } from './open-calls.ts'

/** Options for every run encoder. */
export interface RunEncoderOptions {
  /** The conversation before the first event. A run may continue the last response, after a pause or for a retry. */
  history?: readonly AgentMessage[]
  /** Calls in `history` that wait for an approval. Default: those that a paused run recorded. */
  approvals?: readonly PendingApproval[]
  /** Calls in `history` that wait for a client. Default: those that a paused run recorded. */
  clientCalls?: readonly PendingClientCall[]
  /** Sends the content of `history` first, for a client without the conversation, such as a resuming client. Default: `false`. */
  restate?: boolean
  /** Id of a message within the run, after which the stream begins. By default, the stream begins with the run. */
  replyTo?: string
  /** Returns the price of one response in USD, or `undefined` if unknown. */
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

/** Encodes one run as the frames of one stream. */
export interface RunEncoder<Frame> {
  /** Returns the frames for `event`. Returns none after the run has ended. */
  encode(event: AgentEvent): Frame[]
  /** Processes an event that the client already received in an earlier stream. */
  skip(event: AgentEvent): void
  /**
   * Returns whether the run waits for a request that the client sends only after this stream has ended. If so, call `suspend` to end the
   * stream.
   */
  readonly waiting: WaitingForPerson
  /** Returns the last frames of a stream that ends before its run. */
  suspend(): Frame[]
  /** Returns the last frames if the events ended without `agentEnd`; none after it. */
  end(): Frame[]
  /** Returns the last frames if reading the events failed; none after `agentEnd`. Hides the text of third-party errors. */
  fail(error: unknown): Frame[]
}

/** Headers that every event stream to a browser needs. */
export const streamHeaders = {
  'content-type': 'text/event-stream',
  // If a response is cacheable, Firefox makes a second tab wait until the first tab's response ends.
  'cache-control': 'no-store',
  // Without this header, proxies such as nginx buffer the whole response.
  'x-accel-buffering': 'no',
} as const

/** Selects the run events that clients can see. */
export interface ShownEvents {
  /** Whether `turnRequest` events are sent. They contain the system prompt and the whole request. Default: `false`. */
  turnRequests?: boolean
}

/** Returns whether `event` must not be sent to clients: a `turnRequest`, also of a nested loop, unless `shown` allows it. */
export function isWithheld(event: AgentEvent, shown: ShownEvents): boolean {
  return shown.turnRequests !== true && isRequest(event)
}

function isRequest(event: AgentEvent): boolean {
  return event.type === 'turnRequest' || (event.type === 'childEvent' && isRequest(event.event))
}

/**
 * Returns `event` as it was when emitted, even for late readers. In a `messageStart`, replaces the live view with the empty message,
 * because the content follows as deltas and in `messageEnd`. Returns the same object if nothing differs.
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

/** Returns `event` without the common fields. */
export function bodyOf(event: AgentEvent): object {
  const { type: _type, runId: _run, seq: _seq, at: _at, sessionId: _session, loopId: _loop, ...body } = asEmitted(event)
  return body
}
