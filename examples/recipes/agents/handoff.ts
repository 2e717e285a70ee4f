import type { SessionStore } from 'phi-core'
import { exportSession, importSession } from 'phi-core/session'

/** A server whose app was made with `imports: true`, and who asks it. */
export interface Elsewhere {
  url: string
  headers?: Record<string, string>
  fetch?: typeof fetch
}

/** Hands a session to a server, byte for byte: it goes on there with everything that waits in it. Close its agent first. */
export async function handOff(
  store: SessionStore,
  sessionId: string,
  { url, headers = {}, fetch: send = fetch }: Elsewhere,
): Promise<void> {
  const body = await exportSession(store, sessionId)
  const response = await send(`${url}/sessions/${sessionId}/import?replace=true`, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
}

/** Takes it back. */
export async function takeBack(
  store: SessionStore,
  sessionId: string,
  { url, headers = {}, fetch: send = fetch }: Elsewhere,
): Promise<void> {
  const response = await send(`${url}/sessions/${sessionId}/export`, { headers })
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`)
  await importSession(store, await response.text(), { replace: true })
}
