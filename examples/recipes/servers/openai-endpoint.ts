import { Agent, type AgentTool, type Model, memorySessionStore } from 'phi-core'
import { bearer, createOpenAiApp, memoryLiveSessions } from 'phi-core/http'

/** An agent as the model `support` of OpenAI's API: serve its `fetch`, and give clients `http://…/v1` as their base URL. */
export function openAiApp(model: Model, tools: readonly AgentTool[], token: string | undefined) {
  const options = { model, tools, systemPrompt: 'You help the customers of a bakery.' }
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => options })
  return createOpenAiApp({
    agents: { support: { agent: () => new Agent(options), sessions } },
    authorize: bearer(token),
    clientSettings: ['temperature', 'maxTokens'],
  })
}
