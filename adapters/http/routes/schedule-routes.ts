import { readOwnBody } from '../access/body.ts'
import { refuse } from '../access/problem.ts'
import { faultOf } from '../schedules/session-schedules.ts'
import { keyOf } from './prompt-body.ts'
import type { SessionApp, SessionRouteOptions } from './route-options.ts'

/** `POST`, `GET` and `DELETE /schedules`: prompts of a session that are said later. */
export function addScheduleRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/schedules', async (c) => c.json({ schedules: await c.env.desk.read.schedules() }))
  app.post('/schedules', async (c) => {
    const body = await readOwnBody(c, options.body, ['prompt', 'at', 'everyMs'])
    const { prompt, everyMs, at = typeof everyMs === 'number' ? Date.now() + everyMs : undefined } = body
    const fault = faultOf({ prompt, at, everyMs })
    if (fault !== undefined || typeof prompt !== 'string' || typeof at !== 'number')
      refuse(400, 'invalidBody', fault ?? 'The body is no schedule.')
    const every = typeof everyMs === 'number' ? { everyMs } : {}
    return c.json(await c.env.desk.command({ type: 'schedule', prompt, at, ...every, id: keyOf(c) }), 201)
  })
  app.delete('/schedules/:id', async (c) => {
    const { wasThere } = await c.env.desk.command({ type: 'unschedule', id: c.req.param('id') })
    if (wasThere) return c.body(null, 204)
    refuse(404, 'notFound', 'The session has no such schedule. Read which ones it has from …/schedules.')
  })
}
