import { Agent, type Model } from 'phi-core'
import { mcpTools } from 'phi-core/mcp'
import { connectMcpStdio } from 'phi-core/mcp/node'

/** An agent with the tools of an MCP server over `folder`. `serverPath` is the program, here `@modelcontextprotocol/server-filesystem`. */
export async function agentWithFiles(model: Model, serverPath: string, folder: string): Promise<Agent> {
  const client = await connectMcpStdio({ command: process.execPath, args: [serverPath, folder] })
  const tools = await mcpTools(client, { prefix: 'files', include: ({ annotations }) => annotations?.readOnlyHint === true })
  return new Agent({ model, tools, owns: [tools] }) // agent.close() ends the server
}
