/**
 * Exports for other adapters of this package, without Hono. Not an entry of the package.
 *
 * @module
 *
 * @module
 */

export { answerWithoutPage } from './server/caller-questions.ts'
export { connectMcpServer, type McpServerConnection } from './server/mcp-server.ts'
export type { McpServerOptions } from './server/offers.ts'
