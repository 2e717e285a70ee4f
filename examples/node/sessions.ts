// node examples/node/sessions.ts
// Before: `cp -r node_modules/phi-core/examples . && npm install hono`, or `npm run build` in a clone. It needs no key: the model is scripted.
import { memorySessionStore } from 'phi-core'
import { bearer, createAgentApp, memoryLiveSessions } from 'phi-core/http'
import { serve } from 'phi-core/node'
import { scripted } from 'phi-core/testing'

const model = scripted(() => ({ text: 'Hello from Node.' }))
const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model }) })
const app = createAgentApp({ sessions, authorize: bearer(process.env.ACCESS_TOKEN) })
const { port, url } = await serve(app, { port: Number(process.env.PORT ?? 3000) })
console.log(JSON.stringify({ port, url }))
