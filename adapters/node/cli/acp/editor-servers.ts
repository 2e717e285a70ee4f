import type { McpServer } from '@agentclientprotocol/sdk'
import type { AgentTool, Logger } from '../../../../src/index.ts'
import { mcpTools } from '../../../../src/mcp/index.ts'

/** The tools of servers, and how to leave these. */
export interface ConnectedServers {
  tools: AgentTool[]
  closers: (() => Promise<void>)[]
}

/** Connects to the MCP servers that an editor hands on. Their calls ask a person, and so may they themselves. Rejects, with all of them left, when one cannot be reached. */
export async function connectServers(servers: readonly McpServer[], root: string, logger: Logger): Promise<ConnectedServers> {
  const connected: ConnectedServers = { tools: [], closers: [] }
  try {
    for (const server of servers) {
      const tools = await mcpTools(await connectTo(server, root, logger), { prefix: server.name, logger })
      connected.closers.push(() => tools.close())
      connected.tools.push(...tools.map((tool) => ({ ...tool, needsApproval: true })))
    }
    return connected
  } catch (error) {
    await Promise.allSettled(connected.closers.map((close) => close()))
    throw error
  }
}

/** The SDK is for who has servers. */
async function connectTo(server: McpServer, root: string, logger: Logger) {
  if ('command' in server) {
    const { connectMcpStdio } = await import('../../mcp/index.ts')
    const env = Object.fromEntries(server.env.map(({ name, value }) => [name, value]))
    return connectMcpStdio({ command: server.command, args: server.args, env, cwd: root, onElicit: 'event', logger })
  }
  const { connectMcp } = await import('../../../mcp/index.ts')
  const headers = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]))
  return connectMcp({ url: server.url, headers, onElicit: 'event', logger })
}
