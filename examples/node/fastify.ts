// node examples/node/fastify.ts
// Before: `cp -r node_modules/phi-core/examples . && npm install hono fastify`, or `npm run build` in a clone. It needs no key: the model is scripted.
import fastify from 'fastify'
import { Hono } from 'hono'
import { memorySessionStore } from 'phi-core'
import { bearer, createAgentApp, memoryLiveSessions } from 'phi-core/http'
import { toNodeHandler } from 'phi-core/node'
import { scripted } from 'phi-core/testing'

const model = scripted(() => ({ text: 'Hello from Fastify.' }))
const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model }) })
const agents = createAgentApp({ sessions, authorize: bearer(process.env.ACCESS_TOKEN) })
const handler = toNodeHandler(new Hono().route('/api', agents).fetch)
const app = fastify({ forceCloseConnections: true })
app.register(async (api) => {
  api.removeAllContentTypeParsers()
  api.addContentTypeParser('*', (_request, _body, done) => done(null)) // the handler reads bodies itself
  api.all('/api/*', (request, reply) => handler(request.raw, reply.hijack().raw))
})
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })
console.log(JSON.stringify(app.server.address()))
