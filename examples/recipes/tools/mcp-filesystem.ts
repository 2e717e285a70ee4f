import { Agent, type Model } from 'phi-core'
import { mcpTools } from 'phi-core/mcp'
import { connectMcpStdio } from 'phi-core/mcp/node'

/**
 * Creates an agent with the tools of an MCP server for `folder`. `serverPath` is the program's file, such as
 * `node_modules/@modelcontextprotocol/server-filesystem/dist/index.js`.
 */
export async function agentWithFiles(model: Model, serverPath: string, folder: string): Promise<Agent> {
  const client = await connectMcpStdio({ command: process.execPath, args: [serverPath, folder] })
  const tools = await mcpTools(client, { prefix: 'files', include: ({ annotations }) => annotations?.readOnlyHint === true })
  return new Agent({ model, tools, owns: [tools] }) // agent.close() stops the server
}
