import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { connectMcpServer, type McpServerConnection, type McpServerOptions } from '../../mcp/internal.ts'

/**
 * Offers agents, tools and skills to the program that started this one, over standard input and output: as editors and desktop programs start MCP servers.
 *
 * **Contract**
 * - Standard output belongs to the protocol: write nothing else there. Failures go to `logger`.
 * - `ended` resolves when the other program closes its end; what runs is stopped then.
 * - Throws `ConfigError` `invalidOption` for a wrong option.
 *
 * Source: docs/mcp-server.md
 *
 * @example
 * const { ended } = await serveMcpStdio({ agents: { research: { description: 'Looks things up.', agent: () => new Agent({ model }) } } })
 * await ended
 */
export async function serveMcpStdio(options: McpServerOptions): Promise<McpServerConnection> {
  const connection = await connectMcpServer(new StdioServerTransport(), options)
  // The transport does not listen for the end of its input.
  process.stdin.once('end', () => void connection.close())
  process.stdin.once('close', () => void connection.close())
  return connection
}
