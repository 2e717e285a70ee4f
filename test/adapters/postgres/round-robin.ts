import { createServer, request, type Server } from 'node:http'
import { pipeline } from 'node:stream'

/** A proxy that sends each request to the next one of some servers. */
export interface RoundRobin {
  url: string
  close(): Promise<void>
}

/** Starts one. What is streamed leaves as it comes, and who leaves is gone on both sides. */
export async function roundRobin(backends: readonly string[]): Promise<RoundRobin> {
  let turn = 0
  const server = createServer((incoming, outgoing) => {
    const { method, headers, url } = incoming
    const onward = request(new URL(url ?? '/', backends[turn++ % backends.length]), {
      method,
      headers: { ...headers, connection: 'close' },
    })
    onward.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      outgoing.flushHeaders()
      pipeline(answer, outgoing, () => undefined)
    })
    onward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    url: addressOf(server),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

/** Where a server listens. */
export function addressOf(server: Server): string {
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
}
