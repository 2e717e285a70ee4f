// The entry `phi-core/mcp`: named exports only, each with its contract in TSDoc.
export { isLoopbackHost, isPrivateHost } from '../base/private-host.ts'
export type {
  McpCallOptions,
  McpClientLike,
  McpProgress,
  McpRequestOptions,
  McpResultSchema,
  McpTool,
  McpToolAnnotations,
} from './client-like.ts'
export { mcpInstructions } from './instructions.ts'
export { McpError, type McpErrorCode } from './mcp-error.ts'
export { type McpCallTimeouts, type McpToolChange, type McpToolSet, type McpToolsOptions, mcpTools } from './tool-set.ts'
export { type ModelContextLike, type ModelContextTool, webMcpClient } from './web-mcp-client.ts'
