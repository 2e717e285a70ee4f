/**
 * One server for an app, in Node, Deno and Bun.
 *
 * @example
 * ```ts
 * const { url } = await serve(createAgentApp({ sessions, dev: true }))
 * ```
 *
 * @module
 */

import { createServer } from 'node:http'
import { checkOptions } from '../../../src/contract/shape/read.ts'
import { aFunction, aText, either, options as optionsOf, required, wholeFrom, withMethods } from '../../../src/contract/shape/shape.ts'
import { ConfigError } from '../../../src/index.ts'
import { type FetchHandler, toNodeHandler } from './to-node-handler.ts'

/** On which port of which address a server listens. */
export interface ServeOptions {
  /** 0 takes a free one. Default 3000. */
  port?: number
  /** `0.0.0.0` lets other machines in. Default: this machine only. */
  hostname?: string
}

/** A server that listens, until it is closed. Disposing closes it too. */
export interface Listening extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Stops listening and ends the answers that still stream. */
  close(): Promise<void>
}

const serveOptions = optionsOf<ServeOptions>({ port: wholeFrom(0), hostname: aText })
const anApp = required(either(aFunction, withMethods('an app', 'fetch')))

/**
 * Serves an app, such as that of `createAgentApp`, in Node, Deno and Bun.
 *
 * **Contract**
 * - Resolves when the server listens: on `127.0.0.1` and port 3000 unless the options say otherwise.
 * - Throws `ConfigError` for a wrong option; rejects with `ConfigError` `io` where it cannot listen, such as on a port that is taken.
 * - It takes no signal of the process. On `SIGTERM`, close it after the live sessions.
 *
 * Source: docs/guides/serve-over-http.md
 *
 * @example
 * ```ts
 * const { url } = await serve(createAgentApp({ sessions, dev: true }))
 * ```
 */
export async function serve(app: FetchHandler | { fetch: FetchHandler }, options: ServeOptions = {}): Promise<Listening> {
  checkOptions(app, anApp, 'app')
  checkOptions(options, serveOptions)
  const { port = 3000, hostname = '127.0.0.1' } = options
  const server = createServer(toNodeHandler(typeof app === 'function' ? app : (request, env) => app.fetch(request, env)))
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const advice =
        'EADDRINUSE' === Reflect.get(error, 'code') ? ' Another program has the port: give another one, or 0 for a free one.' : ''
      reject(new ConfigError('io', `Nothing can listen on ${hostname}:${port} (${error.message}).${advice}`, { cause: error }))
    })
    server.listen(port, hostname, resolve)
  })
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  const close = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeAllConnections()
    await closed
  }
  const shown = hostname.includes(':') ? `[${hostname}]` : hostname === '0.0.0.0' ? '127.0.0.1' : hostname
  return { url: `http://${shown}:${bound}`, port: bound, close, [Symbol.asyncDispose]: close }
}
