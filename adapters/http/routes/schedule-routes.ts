import { readJsonObject } from '../access/body.ts'
import { refuse } from '../access/problem.ts'
import { faultOf, maxOfSession, type SessionSchedules } from '../schedules/session-schedules.ts'
import { keyOf } from './prompt-body.ts'
import type { SessionApp, SessionContext, SessionRouteOptions } from './route-options.ts'

/** `POST`, `GET` and `DELETE /schedules`: prompts of a session that are said later. */
export function addScheduleRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/schedules', async (c) => c.json({ schedules: (await c.env.live.schedules?.list()) ?? [] }))
  app.post('/schedules', async (c) => {
    const { prompt, everyMs, at = typeof everyMs === 'number' ? Date.now() + everyMs : undefined } = await readJsonObject(c, options.body)
    const fault = faultOf({ prompt, at, everyMs })
    if (fault !== undefined || typeof prompt !== 'string' || typeof at !== 'number')
      refuse(400, 'invalidBody', fault ?? 'The body is no schedule.')
    const schedules = schedulesOf(c)
    const id = keyOf(c)
    const all = await schedules.list()
    if (all.length >= maxOfSession && !all.some((each) => each.id === id))
      refuse(409, 'tooManySchedules', `A session has at most ${maxOfSession} schedules. Delete one.`)
    const added = typeof everyMs === 'number' ? schedules.every(everyMs, prompt, { from: at, id }) : schedules.runAt(at, prompt, { id })
    return c.json(await added, 201)
  })
  app.delete('/schedules/:id', async (c) => {
    if (await schedulesOf(c).delete(c.req.param('id'))) return c.body(null, 204)
    refuse(404, 'notFound', 'The session has no such schedule. Read which ones it has from …/schedules.')
  })
}

function schedulesOf(c: SessionContext): SessionSchedules {
  return c.env.live.schedules ?? refuse(404, 'notFound', 'This server says nothing later. Give its sessions a store for schedules.')
}
