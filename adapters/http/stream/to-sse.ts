import { type AgentEvent, type AgentMessage, emptyUsage } from '../../../src/index.ts'

/** What of a run a client may see. */
export interface SseOptions {
  /** Whether `turnRequest` events are sent. They hold the system prompt and everything the model is told. Default `false`. */
  turnRequests?: boolean
}

/**
 * One event as a server-sent event: `id` is its cursor, `event` its type, `data` the event as JSON on one line. For an event that is withheld,
 * the empty text.
 *
 * **Contract**
 * - Pure. The same event gives the same text for every reader, at any time: the live view of an assistant message that begins is written
 *   as the empty message it was; what it says follows as deltas, and whole in `messageEnd`.
 * - `turnRequest` is withheld unless `options` ask for it, also that of a child; its cursor is then missing among the ids.
 * - Nothing is added: events carry no key (`LoopConfigSnapshot`), so neither does the text.
 */
export function toSse(event: AgentEvent, options: SseOptions = {}): string {
  if (options.turnRequests !== true && isRequest(event)) return ''
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(asEmitted(event))}\n\n`
}

function isRequest(event: AgentEvent): boolean {
  return event.type === 'turnRequest' || (event.type === 'childEvent' && isRequest(event.event))
}

function asEmitted(event: AgentEvent): AgentEvent {
  if (event.type === 'childEvent') return { ...event, event: asEmitted(event.event) }
  return event.type === 'messageStart' ? { ...event, message: asStarted(event.message) } : event
}

function asStarted(message: AgentMessage): AgentMessage {
  if (message.role !== 'assistant') return message
  const { errorMessage: _later, ...known } = message
  return { ...known, content: [], stopReason: 'stop', usage: emptyUsage() }
}
