/**
 * What other adapters of this package take from here, without what needs Hono. No entry of the package: names here are no promise.
 *
 * @module
 */

export { answerWithoutPage } from './server/caller-questions.ts'
export { connectMcpServer, type McpServerConnection } from './server/mcp-server.ts'
export type { McpServerOptions } from './server/offers.ts'
