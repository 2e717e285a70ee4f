import type { AgentEvent, Session } from '../../../src/index.ts'
import { chainOf } from '../state/conversation-state.ts'

/** When an event is heard again, in ms from the beginning. */
export interface Moment {
  at: number
  event: AgentEvent
}

/** What is replayed: the events of one branch of a conversation, in their order. */
export interface Timeline {
  moments: readonly Moment[]
  /** Milliseconds. */
  length: number
  /** Where turns begin, in ms. */
  turns: readonly number[]
}

/** A person who thought for an hour is waited for no longer than this, in ms. */
export const longestPause = 1500

/** The recorded events from the first loop down to `loopId`, with the times between them as they were, but for long pauses. */
export function timelineOf(session: Session, loopId: string | undefined): Timeline {
  const moments: Moment[] = []
  let at = 0
  let before: AgentEvent | undefined
  for (const { events } of chainOf(session, loopId)) {
    for (const { event } of events) {
      if (before !== undefined) at += Math.min(longestPause, Math.max(0, event.at - before.at))
      before = event
      moments.push({ at, event })
    }
  }
  const turns = moments.flatMap((moment) => (moment.event.type === 'turnStart' ? [moment.at] : []))
  return { moments, length: at, turns }
}
