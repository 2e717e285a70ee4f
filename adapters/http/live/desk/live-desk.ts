import type { LiveSession } from '../live-session.ts'
import { carryOut } from './carry-out.ts'
import { LiveReads } from './live-reads.ts'
import { followedEvents, runEvents } from './run-events.ts'
import type { SessionDesk } from './session-desk.ts'

/** The desk of a session that lives in this process: what its host gives to routes. */
export function sessionDesk(live: LiveSession): SessionDesk {
  const { sessionId, caller } = live
  return {
    sessionId,
    caller,
    command: (command) => carryOut(live, command),
    events: (place, media = 'bytes') => runEvents(live, place, media),
    follow: (place, media = 'bytes') => followedEvents(live, place, media),
    read: new LiveReads(live),
  }
}
