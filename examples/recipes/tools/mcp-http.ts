import { Agent, type AgentTool, type Logger, type Model } from 'phi-core'
import { connectMcp, mcpTools } from 'phi-core/mcp'

/** Creates an agent with its own tools and those of a remote server, which can change at any time. */
export async function agentWithService(
  model: Model,
  own: readonly AgentTool[],
  url: string,
  token: string,
  logger: Logger,
): Promise<Agent> {
  const client = await connectMcp({ url, headers: { authorization: `Bearer ${token}` }, logger })
  const service = await mcpTools(client, {
    prefix: 'service',
    needsApproval: ({ annotations }) => annotations?.readOnlyHint !== true,
    logger,
  })
  const agent = new Agent({ model, tools: [...own, ...service], owns: [service] })
  service.subscribe(() => agent.configure({ tools: [...own, ...service] }))
  return agent
}
