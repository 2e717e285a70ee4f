import { ConfigError, type JsonObject, type JsonValue } from '../../../src/index.ts'
import type { PatchOperation, SharedState, StateChangeOptions } from '../../../src/shared-state/index.ts'
import { isObject, readJsonObject } from '../access/body.ts'
import { refuse } from '../access/problem.ts'
import type { LiveSession } from '../live/live-session.ts'
import { refuseUnknown } from './history-routes.ts'
import { keyOf } from './prompt-body.ts'
import type { SessionApp, SessionRouteOptions } from './route-options.ts'

/**
 * What a session shares with its pages: which version it has, and changes of it.
 *
 * **Contract**: a change is answered once it is recorded; under a key it is made once, as long as the session is in memory. Reading makes no agent; a page
 * reads what the log has.
 *
 * Source: docs/concepts/shared-state.md
 */
export function addStateRoutes(app: SessionApp, options: SessionRouteOptions): void {
  app.get('/state', async (c) => {
    const state = await c.env.live.sharedState()
    return state === undefined ? refuseUnshared() : c.json(state)
  })
  app.post('/state', async (c) => {
    const { value, patch, ifVersion } = await readJsonObject(c, options.body)
    if ((value === undefined) === (patch === undefined))
      refuse(400, 'invalidBody', 'Send { value } with all of the state, or { patch } with operations of JSON Patch (RFC 6902).')
    if (typeof ifVersion !== 'number' || !Number.isSafeInteger(ifVersion) || ifVersion < 0)
      refuse(400, 'invalidBody', 'ifVersion must be the version that the change is about. Read it from GET …/state.')
    if (!(await c.env.live.recorded.isKnown())) return refuseUnknown()
    const state = await sharedStateOf(c.env.live)
    const by: StateChangeOptions = { ifVersion, by: 'client' }
    await c.env.live.stateChanges.get(keyOf(c), async () =>
      // What is no patch is refused by its rules.
      value !== undefined ? state.set(stateFrom(value), by) : state.patch(patch as unknown as readonly PatchOperation[], by),
    )
    return c.json({ version: state.version, value: state.value })
  })
}

/** The state of the agent that writes. Refuses with 404 where it shares nothing. */
async function sharedStateOf(live: LiveSession): Promise<SharedState> {
  const { sharedState } = await live.agent()
  return sharedState ?? refuseUnshared()
}

function stateFrom(value: JsonValue): JsonObject {
  if (isObject(value)) return value
  throw new ConfigError('invalidState', 'The shared state was not changed: it must be an object.')
}

function refuseUnshared(): never {
  refuse(404, 'notFound', 'This session shares no state. Give its agent the option sharedState, and prompt it first.')
}
