// The entry `phi-core/mcp/node`: MCP over stdio. It needs `@modelcontextprotocol/sdk`.
export { connectMcpStdio, type McpStdioOptions, serveMcpStdio } from './stdio.ts'
