/**
 * Serves an app in Node, Deno and Bun.
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

/** Options for `serve`: port and address. */
export interface ServeOptions {
  /** The port, or 0 for any free port. Default: 3000. */
  port?: number
  /** Address. `0.0.0.0` accepts connections from other machines. Default: `127.0.0.1`, this machine only. */
  hostname?: string
}

/** A listening server. Disposing closes it. */
export interface Listening extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Stops listening and ends open responses. */
  close(): Promise<void>
}

const serveOptions = optionsOf<ServeOptions>({ port: wholeFrom(0), hostname: aText })
const anApp = required(either(aFunction, withMethods('an app', 'fetch')))

/**
 * Serves an app, such as `createAgentApp`, in Node, Deno and Bun.
 *
 * **Contract**
 * - Resolves when the server listens. By default, it listens on `127.0.0.1`, port 3000.
 * - Throws `ConfigError` for an invalid option. Rejects with `ConfigError` `io` if it cannot listen, for example on a used port.
 * - Does not handle process signals. On `SIGTERM`, close the live sessions first, then the server.
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
        'EADDRINUSE' === Reflect.get(error, 'code') ? ' Another program uses the port. Pass another port, or 0 for a free one.' : ''
      reject(new ConfigError('io', `Cannot listen on ${hostname}:${port} (${error.message}).${advice}`, { cause: error }))
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
