import { isJsonObject } from '../../../src/contract/json.ts'
import type { JsonObject, JsonValue } from '../../../src/index.ts'
import { invalidState, readPatch } from '../../../src/internal.ts'
import { readOwnBody } from '../access/body.ts'
import { ProblemError, refuse, unshared } from '../access/problem.ts'
import type { StateChange } from '../live/gateway/gateway-command.ts'
import { faultOf } from '../schedules/session-schedules.ts'
import { keyOf } from './prompt-body.ts'
import type { SessionApp, SessionRouteOptions } from './route-options.ts'

/**
 * Adds the routes that read and change shared state.
 *
 * **Contract**
 * - Confirms a change once it is recorded. Applies it once per key, even after a restart. Reads create no agent and use the log.
 *
 * Source: docs/guides/shared-state.md
 */
export function addStateRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/state', async (c) => {
    const state = await c.env.gateway.read.state()
    if (state === undefined) throw new ProblemError(unshared)
    return c.json(state)
  })
  app.post('/state', async (c) => {
    const body = await readOwnBody(c, options.body, ['value', 'patch', 'ifVersion'])
    const { value, patch, ifVersion } = body
    if ((value === undefined) === (patch === undefined))
      refuse(400, 'invalidBody', 'Send { value } with the whole state, or { patch } with JSON Patch operations (RFC 6902).')
    if (typeof ifVersion !== 'number' || !Number.isSafeInteger(ifVersion) || ifVersion < 0)
      refuse(400, 'invalidBody', 'ifVersion must be the version that the change is based on. Read it from GET …/state.')
    return c.json(await c.env.gateway.command({ type: 'changeState', change: changeIn(body), ifVersion, key: keyOf(c) }))
  })
}

/** Parses a change of the state. Rejects with 400 `invalidState`. */
function changeIn({ value, patch }: JsonObject): StateChange['change'] {
  return value === undefined ? { patch: readPatch(patch) } : { value: stateFrom(value) }
}

function stateFrom(value: JsonValue): JsonObject {
  if (isJsonObject(value)) return value
  throw invalidState('it must be an object')
}

/** Adds `POST`, `GET` and `DELETE /schedules` for a session's scheduled prompts. */
export function addScheduleRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/schedules', async (c) => c.json({ schedules: await c.env.gateway.read.schedules() }))
  app.post('/schedules', async (c) => {
    const body = await readOwnBody(c, options.body, ['prompt', 'at', 'everyMs'])
    const { prompt, everyMs, at = typeof everyMs === 'number' ? Date.now() + everyMs : undefined } = body
    const fault = faultOf({ prompt, at, everyMs })
    if (fault !== undefined || typeof prompt !== 'string' || typeof at !== 'number')
      refuse(400, 'invalidBody', fault ?? 'The body is not a schedule.')
    const every = typeof everyMs === 'number' ? { everyMs } : {}
    return c.json(await c.env.gateway.command({ type: 'schedule', prompt, at, ...every, id: keyOf(c) }), 201)
  })
  app.delete('/schedules/:id', async (c) => {
    const { wasThere } = await c.env.gateway.command({ type: 'unschedule', id: c.req.param('id') })
    if (wasThere) return c.body(null, 204)
    refuse(404, 'notFound', 'The session has no such schedule. See …/schedules.')
  })
}
