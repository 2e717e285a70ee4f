import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { checkOptions, withMethods } from '../../../src/internal.ts'
import { McpServing } from './mcp-server.ts'
import { checkServer, type McpServerOptions } from './offers.ts'

/** A server that is connected to one client. */
export interface McpServerConnection extends AsyncDisposable {
  /** Resolves when the connection has ended, from either side. */
  readonly ended: Promise<void>
  /** Ends it, and what runs for it. */
  close(): Promise<void>
}

const aTransport = withMethods('a transport of the SDK', 'start', 'send', 'close')

/**
 * Offers agents, tools and skills to the client at the other end of any transport of the SDK.
 *
 * **Contract**
 * - The client at the other end of the transport is let in: it is for one client, such as the program that started this one.
 * - When the connection ends, what runs for it is stopped.
 * - Throws `ConfigError` `invalidOption` for a wrong option; rejects with what the transport rejects with.
 *
 * Source: docs/mcp-server.md
 */
export async function connectMcpServer(transport: Transport, options: McpServerOptions): Promise<McpServerConnection> {
  checkOptions(transport, aTransport, 'transport')
  checkServer(options)
  const { server } = new McpServing(options, {})
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve
  })
  await server.connect(transport)
  const close = () => server.close()
  return { ended, close, [Symbol.asyncDispose]: close }
}
