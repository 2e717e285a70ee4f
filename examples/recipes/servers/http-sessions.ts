import { type AgentTool, type Model, memorySessionStore } from 'phi-core'
import { bearer, createAgentApp, memoryLiveSessions } from 'phi-core/http'

/** Conversations behind HTTP: they are kept, and their runs go on when the client leaves. With `fileSessionStore` they outlive the process. */
export function sessionsApp(model: Model, tools: readonly AgentTool[], token: string | undefined) {
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model, tools }) })
  return createAgentApp({ sessions, authorize: bearer(token) })
}
