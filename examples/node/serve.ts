import { createServer } from 'node:http'
import { type FetchHandler, toNodeHandler } from 'phi-core/adapters/node'

export type { FetchHandler } from 'phi-core/adapters/node'

/** A running server. Disposing it ends the answers that still stream. */
export interface Listening extends AsyncDisposable {
  url: string
}

/** Serves a fetch handler with Node's own HTTP server, on loopback only. `port` 0 takes a free one. */
export async function serve(handler: FetchHandler, port = 0): Promise<Listening> {
  const server = createServer(toNodeHandler(handler))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${bound}`, [Symbol.asyncDispose]: close }
}
