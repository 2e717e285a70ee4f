/**
 * A server of the Model Context Protocol: agents, tools and skills for any MCP client, over Streamable HTTP in any runtime. Over standard input and output:
 * `serveMcpStdio` of `phi-core/mcp/node`.
 *
 * @module
 */

export { connectMcpServer, type McpServerConnection } from './mcp-server.ts'
export type { McpAgent, McpCaller, McpServerOptions } from './offers.ts'
export { type McpApp, type ServeMcpOptions, serveMcp } from './serve-mcp.ts'
