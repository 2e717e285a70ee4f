import { isEqualJson } from '../../../../src/base/json/json-value.ts'
import type { SavedState } from '../../../../src/contract/session/shared-state.ts'
import { ProblemError, refuse, unshared } from '../../access/problem.ts'
import type { GatewayCommands, StateChange } from '../gateway/gateway-command.ts'
import type { LiveSession } from '../live-session.ts'

/**
 * Changes shared state. Resolves with the new version once it is recorded. Applies the change once per key, even after a restart. Rejects
 * with 404 if the session has no shared state, 400 `invalidState`, or 409 `stateConflict`.
 */
export async function changeState(live: LiveSession, { change, ifVersion, key }: StateChange): Promise<SavedState> {
  const { sharedState } = await live.agent()
  if (sharedState === undefined) throw new ProblemError(unshared)
  const by = { ifVersion, by: 'client' as const, ...(key !== undefined && { idempotencyKey: key }) }
  await live.changeOnce(key, () => ('value' in change ? sharedState.set(change.value, by) : sharedState.patch(change.patch, by)))
  return { version: sharedState.version, value: sharedState.value }
}

/**
 * Replaces shared state with the client's version. Rejects with 400 `invalidState`, and with 409 `stateConflict` if it is based on a
 * different version or specifies none.
 */
export async function takeState(live: LiveSession, { value, version }: GatewayCommands['takeState']): Promise<void> {
  const { sharedState } = await live.agent()
  // Ignore the state if the agent has no shared state, because clients may send their own state.
  if (sharedState === undefined || isEqualJson(value, sharedState.value)) return
  if (version === undefined && sharedState.version > 0)
    refuse(409, 'stateConflict', 'state was changed without a valid $version. Keep the $version of the last STATE_SNAPSHOT.')
  await sharedState.set(value, { ifVersion: version ?? 0, by: 'client' })
}
