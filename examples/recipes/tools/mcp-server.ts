import { Agent, type AgentTool, type Model } from 'phi-core'
import { bearer } from 'phi-core/http'
import { serveMcp } from 'phi-core/mcp/server'

/** Serves an agent as the MCP tool `research`, together with other tools. Serve its `fetch`, and give clients `https://…/mcp`. */
export function researchServer(model: Model, tools: readonly AgentTool[], token: string | undefined) {
  return serveMcp({
    name: 'research',
    agents: {
      research: {
        description: 'Looks things up, and answers with sources.',
        agent: () => new Agent({ model, tools, systemPrompt: 'You look things up.' }),
      },
    },
    tools,
    authorize: bearer(token),
  })
}
