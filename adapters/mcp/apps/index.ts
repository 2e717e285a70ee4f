// Entry `./mcp/apps`. Loads no SDK.

export type { McpAppCallState } from '../../../src/mcp/apps/app-call-state.ts'
export type { McpAppHost } from '../../../src/mcp/apps/app-host.ts'
export type { McpAppResource } from '../../../src/mcp/apps/app-resource.ts'
export type { McpAppCall, McpAppServer } from '../../../src/mcp/apps/app-server.ts'
export { type McpAppFrame, type McpAppOptions, mountMcpApp } from './mount-app.ts'
