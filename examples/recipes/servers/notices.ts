import type { AgentTool, Model, SessionStore } from 'phi-core'
import { createAgentApp, memoryLiveSessions, readWebhook, webhook } from 'phi-core/http'

// #region send
/** Notifies another server when a run waits without a client, and when a run ends. */
export function startServer(
  store: SessionStore,
  hook: { url: string; key: string },
  { model, tools }: { model: Model; tools: readonly AgentTool[] },
) {
  const notify = webhook({ ...hook, logger: console })
  const sessions = memoryLiveSessions({ store, agent: () => ({ model, tools }), onWaiting: notify, onEnd: notify })
  const app = createAgentApp({ sessions, authorize: () => true })
  const end = async () => {
    await sessions.drain({ deadlineMs: 20_000 })
    await notify.settled()
  }
  return { fetch: app.fetch, end }
}
// #endregion send

// #region receive
/** Receives the notices on the other server. */
export function receiver(key: string, notify: (text: string) => Promise<void>) {
  const seen = new Set<string>()
  return async (request: Request): Promise<Response> => {
    const { notice, problem } = await readWebhook(request, { key })
    if (notice === undefined) return new Response(problem, { status: 401 })
    // A retried notice can arrive twice.
    if (seen.has(notice.id)) return new Response(null, { status: 204 })
    const names = notice.type === 'waiting' ? notice.approvals.map(({ toolName }) => toolName).join(', ') : notice.status
    await notify(`${notice.sessionId}: ${notice.type === 'waiting' ? `may it ${names}?` : names}`)
    seen.add(notice.id)
    return new Response(null, { status: 204 })
  }
}
// #endregion receive
