// Entry `./mcp`. Loads the SDK.

export { isLoopbackHost, isPrivateHost } from '../../src/base/private-host.ts'
export type { McpClientLike, McpProgress, McpTool } from '../../src/mcp/client-like.ts'
export type { McpPrompt } from '../../src/mcp/features/prompts.ts'
export type { McpResource, McpResourceTemplate } from '../../src/mcp/features/resources.ts'
export type { McpServerFeatures } from '../../src/mcp/features/server-features.ts'
export { mcpInstructions } from '../../src/mcp/instructions.ts'
export { McpError, type McpErrorCode } from '../../src/mcp/mcp-error.ts'
export type { McpCompletion } from '../../src/mcp/mentions/completion.ts'
export { type McpMentions, mcpMentions } from '../../src/mcp/mentions/mentions.ts'
export { type McpToolSet, type McpToolsOptions, mcpTools } from '../../src/mcp/tool-set.ts'
export { connectMcp, type McpHttpOptions } from './connect-mcp.ts'
export { connectMcpOver, type McpConnection, type McpConnectOptions, type McpRoot } from './connection.ts'
