// node examples/node/server.ts
// Before: `cp -r node_modules/phi-core/examples . && npm install hono`, or `npm run build` in a clone. It needs no key: the model is scripted.

import { type Listening, serve } from 'phi-core/node'
import { scripted } from 'phi-core/testing'
import { agentApp } from '../recipes/servers/http-app.ts'

const model = scripted(() => ({ text: 'Hello from Node.' }), { delayMs: 20 })
const token = process.env.ACCESS_TOKEN ?? crypto.randomUUID()

/** Dispose it to stop the server. */
export const server: Listening = await serve(agentApp(model, token), { port: Number(process.env.PORT ?? 3000) })
console.log(`${server.url}/runs`)
if (process.env.ACCESS_TOKEN === undefined) console.log(`Authorization: Bearer ${token}`)
