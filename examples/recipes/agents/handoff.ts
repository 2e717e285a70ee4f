import type { SessionStore } from 'phi-core'
import { exportSession, importSession } from 'phi-core/session'

/** A server created with `imports: true`. */
export interface Elsewhere {
  url: string
  headers?: Record<string, string>
  fetch?: typeof fetch
}

/** Moves a session to a server, with its pending calls. Close its agent first. */
export async function handOff(
  store: SessionStore,
  sessionId: string,
  { url, headers = {}, fetch: send = fetch }: Elsewhere,
): Promise<void> {
  const body = await exportSession(store, sessionId)
  const response = await send(`${url}/sessions/${sessionId}/import?replace=true`, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
}

/** Moves a session back from a server. */
export async function takeBack(
  store: SessionStore,
  sessionId: string,
  { url, headers = {}, fetch: send = fetch }: Elsewhere,
): Promise<void> {
  const response = await send(`${url}/sessions/${sessionId}/export`, { headers })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  await importSession(store, await response.text(), { replace: true })
}
