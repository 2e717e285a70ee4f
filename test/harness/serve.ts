import { type Listening, serve as serveApp } from '../../adapters/node/http/serve.ts'
import type { FetchHandler } from '../../adapters/node/index.ts'

export type { Listening } from '../../adapters/node/http/serve.ts'
export type { FetchHandler } from '../../adapters/node/index.ts'

/** Serves on a free port of this machine. */
export const serve = (handler: FetchHandler): Promise<Listening> => serveApp(handler, { port: 0 })
