import { refuse } from '../../access/problem.ts'
import type { ScheduledPrompt } from '../../schedules/schedule-store.ts'
import { maxOfSession, type SessionSchedules } from '../../schedules/session-schedules.ts'
import type { GatewayCommands } from '../gateway/gateway-command.ts'
import type { LiveSession } from '../live-session.ts'

/** Schedules a prompt, once per `id`. Rejects with 409 `tooManySchedules`, and with 404 if the host stores no schedules. */
export async function schedule(live: LiveSession, { at, everyMs, prompt, id }: GatewayCommands['schedule']): Promise<ScheduledPrompt> {
  const schedules = schedulesOf(live)
  const all = await schedules.list()
  if (all.length >= maxOfSession && !all.some((each) => each.id === id))
    refuse(409, 'tooManySchedules', `A session has at most ${maxOfSession} schedules. Delete one.`)
  return everyMs === undefined ? schedules.runAt(at, prompt, { id }) : schedules.every(everyMs, prompt, { from: at, id })
}

/** Returns the schedules. Rejects with 404 if the host stores none. */
export function schedulesOf(live: LiveSession): SessionSchedules {
  return live.schedules ?? refuse(404, 'notFound', 'This server does not support schedules. Pass its sessions a schedule store.')
}
