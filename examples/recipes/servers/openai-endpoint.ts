import { Agent, type AgentTool, type Model, memorySessionStore } from 'phi-core'
import { bearer, createOpenAiApp, memoryLiveSessions } from 'phi-core/http'

/** Serves an agent as the model `support`. Serve its `fetch`, and set the base URL of clients to `http://…/v1`. */
export function openAiApp(model: Model, tools: readonly AgentTool[], token: string | undefined) {
  const options = { model, tools, systemPrompt: 'You help the customers of a bakery.' }
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => options })
  return createOpenAiApp({
    agents: { support: { agent: () => new Agent(options), sessions } },
    authorize: bearer(token),
    clientSettings: ['temperature', 'maxTokens'],
  })
}
