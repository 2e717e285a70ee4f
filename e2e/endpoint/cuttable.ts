import { connect, createServer, type Socket } from 'node:net'

/** A way to a server on this machine that can be cut. */
export interface CuttableServer extends AsyncDisposable {
  url: string
  /** Ends every connection at once, without a word, and lets nobody through until `mend`. */
  cut(): void
  mend(): void
  /** Passes nothing more on of the connection that brings `text` for the `times`-th time, from before it on, until it is cut. */
  holdBefore(text: string, times: number): void
  /** How many connections were let through. */
  connections: number
}

/** Passes bytes to `url` and back: cutting it breaks off answers that stream, as a lost network does. `setOffline` of browsers lets those go on. */
export async function cuttable(url: string): Promise<CuttableServer> {
  const { hostname, port } = new URL(url)
  const open = new Set<Socket>()
  const way = { connections: 0 }
  let isCut = false
  let gate: Gate | undefined
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
    }
    near.pipe(far)
    far.on('data', (chunk: Buffer) => {
      const passed = gate?.pass(chunk) ?? chunk
      near.write(passed)
      if (passed.length < chunk.length) far.pause()
    })
    far.on('end', () => near.end())
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
      gate = undefined
    },
    holdBefore(text: string, times: number) {
      gate = new Gate(text, times)
    },
    async [Symbol.asyncDispose]() {
      end()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

/** Closes before what it was told to wait for. */
class Gate {
  readonly #text: string
  #times: number
  /** What may be the beginning of the text. */
  #before = ''

  constructor(text: string, times: number) {
    this.#text = text
    this.#times = times
  }

  /** As much of the bytes as passes. */
  pass(chunk: Buffer): Buffer {
    if (this.#times === 0) return chunk.subarray(0, 0)
    const seen = this.#before + chunk.toString('latin1') // a character for each byte
    let at = seen.indexOf(this.#text)
    while (at >= 0 && --this.#times > 0) at = seen.indexOf(this.#text, at + 1)
    if (at >= 0) return chunk.subarray(0, Math.max(0, at - this.#before.length))
    this.#before = seen.slice(1 - this.#text.length)
    return chunk
  }
}
