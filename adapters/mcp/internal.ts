/**
 * What other adapters of this package take from here, without what needs Hono. No entry of the package: names here are no promise.
 *
 * @module
 */

export { connectMcpServer, type McpServerConnection } from './server/connect-server.ts'
export { answerWithoutPage } from './server/no-page.ts'
export type { McpServerOptions } from './server/offers.ts'
