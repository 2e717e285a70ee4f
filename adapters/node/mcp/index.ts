// The entry `./adapters/node/mcp`: MCP servers that are programs. It needs `@modelcontextprotocol/sdk`.
export { connectMcpStdio, type McpStdioOptions, serveMcpStdio } from './stdio.ts'
