import { type AgentTool, type Model, memorySessionStore } from 'phi-core'
import { bearer, createAgentApp, memoryLiveSessions } from 'phi-core/http'

/** Serves sessions over HTTP. Runs continue when the client disconnects. With `fileSessionStore`, sessions survive the process. */
export function sessionsApp(model: Model, tools: readonly AgentTool[], token: string | undefined) {
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model, tools }) })
  return createAgentApp({ sessions, authorize: bearer(token) })
}
