// Entry `./mcp`. Loads the SDK.

export { isLoopbackHost, isPrivateHost } from '../../src/base/private-host.ts'
export type { McpClientLike, McpProgress, McpTool } from '../../src/mcp/client-like.ts'
export { mcpInstructions } from '../../src/mcp/instructions.ts'
export { McpError, type McpErrorCode } from '../../src/mcp/mcp-error.ts'
export { type McpToolSet, type McpToolsOptions, mcpTools } from '../../src/mcp/tool-set.ts'
export { connectMcp, type McpHttpOptions } from './connect-mcp.ts'
export { connectMcpOver, type McpConnection, type McpConnectOptions, type McpRoot } from './connection.ts'
