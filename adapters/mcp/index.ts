// The entry `./adapters/mcp`: named exports only, each with its contract in TSDoc. The SDK is loaded with it.
export { connectMcp, type McpHttpOptions } from './connect-mcp.ts'
export { connectMcpOver, type McpConnection, type McpConnectOptions, type McpRoot, type McpRoute } from './connection.ts'
