// node examples/node/express.ts
// Before: `cp -r node_modules/phi-core/examples . && npm install hono express`, or `npm run build` in a clone. It needs no key: the model is scripted.
import express from 'express'
import { memorySessionStore } from 'phi-core'
import { bearer, createAgentApp, memoryLiveSessions } from 'phi-core/http'
import { toNodeHandler } from 'phi-core/node'
import { scripted } from 'phi-core/testing'

const model = scripted(() => ({ text: 'Hello from Express.' }))
const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model }) })
const agents = createAgentApp({ sessions, authorize: bearer(process.env.ACCESS_TOKEN) })
const app = express()
app.use('/api', toNodeHandler(agents.fetch)) // before express.json(), because it reads bodies itself
const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log(JSON.stringify(server.address())))
