import type { AgentTool, Model, SessionStore } from 'phi-core'
import { createAgentApp, memoryLiveSessions } from 'phi-core/http'

/** Creates a server that resumes its runs after a restart. Call `end` on SIGTERM, and exit when it resolves. */
export async function startServer(store: SessionStore, { model, tools }: { model: Model; tools: readonly AgentTool[] }) {
  const sessions = memoryLiveSessions({ store, agent: () => ({ model, tools }) })
  await sessions.recover()
  const app = createAgentApp({ sessions, authorize: () => true })
  return { fetch: app.fetch, end: () => sessions.drain({ deadlineMs: 20_000 }) }
}
