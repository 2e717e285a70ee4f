import type { AgentMessage } from '../../contract/message/message.ts'
import { emptyUsage } from '../../contract/model/usage.ts'
import type { AgentEvent } from '../../contract/run/event.ts'

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
