import type { AgentEvent } from '../../../src/index.ts'
import type { Session } from '../../../src/session.ts'
import { chainOf } from '../state/conversation/opened-state.ts'
import type { Moment, Timeline } from '../state/conversation/replay-controls.ts'

/** Maximum pause in a replay in milliseconds, because a user may have thought for an hour. */
export const longestPause = 1500

/** Returns the recorded events from the first loop down to `loopId`, with their original timing except for long pauses. */
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
