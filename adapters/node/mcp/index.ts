// The entry `./mcp/node`: MCP servers that are programs. It needs `@modelcontextprotocol/sdk`.
export { connectMcpStdio, type McpStdioOptions, serveMcpStdio } from './stdio.ts'
