// #region history
import type { SessionStore } from 'phi-core'
import { sharedStatesOf } from 'phi-core/session'

/** Lists all versions of the state, with the author of each. */
export async function history(store: SessionStore, sessionId: string): Promise<string[]> {
  const { records } = await store.tail(sessionId)
  return sharedStatesOf(records).map(({ version, by, value }) => `${version}, by the ${by}: ${JSON.stringify(value)}`)
}

// #endregion history

// #region page
import type { RemoteSession } from 'phi-core/client'

export async function page(session: RemoteSession, show: (shown: string) => void): Promise<void> {
  session.sharedState.subscribe(({ version, value }) => show(`${version}: ${JSON.stringify(value)}`))
  await session.sharedState.read()
  await session.sharedState.patch([{ op: 'add', path: '/title', value: 'Bread' }])
}
// #endregion page
