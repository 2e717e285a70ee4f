import { type AgentEvent, type AgentMessage, emptyUsage } from '../../src/index.ts'

/**
 * One event as a server-sent event: `id` is its cursor, `event` its type, `data` the event as JSON on one line.
 *
 * **Contract**
 * - Pure. The same event gives the same text for every reader, at any time: the live view of an assistant message that begins is written
 *   as the empty message it was; what it says follows as deltas, and whole in `messageEnd`.
 * - Nothing is added: events carry no key (`LoopConfigSnapshot`), so neither does the text.
 */
export function toSse(event: AgentEvent): string {
  const body = event.type === 'messageStart' ? { ...event, message: asStarted(event.message) } : event
  return `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(body)}\n\n`
}

function asStarted(message: AgentMessage): AgentMessage {
  if (message.role !== 'assistant') return message
  const { errorMessage: _later, ...known } = message
  return { ...known, content: [], stopReason: 'stop', usage: emptyUsage() }
}
