import { Agent, type AgentTool, type Logger, type Model } from 'phi-core'
import { connectMcp, mcpTools } from 'phi-core/mcp'

/** An agent with tools of its own and those of a server on the web, which may change them at any time. */
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
