import { connect, createServer, type Socket } from 'node:net'

/** A way to a server on this machine that can be cut. */
export interface CuttableServer extends AsyncDisposable {
  url: string
  /** Ends every connection at once, without a word, and lets nobody through until `mend`. */
  cut(): void
  mend(): void
  /** How many connections were let through. */
  connections: number
}

/** Passes bytes to `url` and back: cutting it breaks off answers that stream, as a lost network does. `setOffline` of browsers lets those go on. */
export async function cuttable(url: string): Promise<CuttableServer> {
  const { hostname, port } = new URL(url)
  const open = new Set<Socket>()
  const way = { connections: 0 }
  let isCut = false
  const server = createServer((near) => {
    if (isCut) {
      near.resetAndDestroy()
      return
    }
    way.connections += 1
    const far = connect(Number(port), hostname)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const own = typeof address === 'object' && address !== null ? address.port : 0
  const end = () => {
    for (const socket of open) socket.resetAndDestroy()
  }
  return Object.assign(way, {
    url: `http://127.0.0.1:${own}/`,
    cut() {
      isCut = true
      end()
    },
    mend() {
      isCut = false
    },
    async [Symbol.asyncDispose]() {
      end()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}
