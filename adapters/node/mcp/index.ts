// The entry `./adapters/node/mcp`: MCP servers that are programs. It needs `@modelcontextprotocol/sdk`.
export { connectMcpStdio, type McpStdioOptions } from './connect-mcp-stdio.ts'
export { serveMcpStdio } from './serve-mcp-stdio.ts'
