import type { AgentEvent } from '../types/event.ts'
import { eventSize } from './event-size.ts'

/** One remembered event. */
export class KeptEvent {
  readonly event: AgentEvent
  /** Measured once: a live message grows, and a big one takes time. */
  readonly bytes: number

  constructor(event: AgentEvent) {
    this.event = event
    this.bytes = eventSize(event)
  }

  get seq(): number {
    return this.event.seq
  }

  /** The first event after a cursor before it. */
  after(): AgentEvent {
    return this.event
  }
}
