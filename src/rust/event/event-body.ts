import type { AgentEvent } from '../../contract/run/event.ts'
import type { EventBase } from '../../contract/run/run-facts.ts'

/** What an event says beside what every event carries. */
export type EventBody<T extends AgentEvent['type']> = Omit<Extract<AgentEvent, { type: T }>, keyof EventBase>

/** The body of any event. */
export type AnyEventBody = { [T in AgentEvent['type']]: EventBody<T> }[AgentEvent['type']]

/** An event of one of these types. */
export type EventOf<T extends AgentEvent['type']> = Extract<AgentEvent, { type: T }>

/** The time of an event as Rust writes it: RFC 3339, UTC. */
export function specTime(event: AgentEvent): { timestamp: string } {
  return { timestamp: new Date(event.at).toISOString() }
}
