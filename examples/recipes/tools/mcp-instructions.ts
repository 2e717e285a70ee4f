import { Agent, type Model } from 'phi-core'
import { connectMcp, mcpInstructions, mcpTools } from 'phi-core/mcp'

/** Creates an agent whose system prompt includes the instructions of an MCP server. */
export async function agentWithInstructions(model: Model, url: string): Promise<Agent> {
  const tools = await mcpTools(await connectMcp({ url }), { prefix: 'service' })
  const systemPrompt = ['You help Ann.', mcpInstructions(tools)].join('\n\n')
  return new Agent({ model, systemPrompt, tools, owns: [tools] })
}
