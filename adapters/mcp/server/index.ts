/**
 * An MCP server that offers agents, tools and skills over Streamable HTTP, for any runtime. For stdio, use `serveMcpStdio` from
 * `phi-core/mcp/node`.
 *
 * @module
 *
 * @module
 */

export { connectMcpServer, type McpServerConnection } from './mcp-server.ts'
export type { McpAgent, McpCaller, McpServerOptions } from './offers.ts'
export { type McpApp, type ServeMcpOptions, serveMcp } from './serve-mcp.ts'
