// Run `node examples/use-chat/server.ts`, and in another terminal `npx vite examples/use-chat`.
// Before: `cp -r node_modules/phi-core/examples . && npm install hono ai @ai-sdk/react react react-dom vite`, or `npm run build` in a clone.
import { defineTool } from 'phi-core'
import { createAgentApp, memoryLiveSessions } from 'phi-core/http'
import { fileSessionStore, serve } from 'phi-core/node'
import { scripted } from 'phi-core/testing'

const weather = defineTool<{ city: string }>({
  name: 'weather',
  description: 'Returns the weather in a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  needsApproval: true,
  execute: ({ city }) => `${city}: 4 °C, rain`,
})

// A scripted model needs no key. For a real model, use `const model = await modelFromEnv()` from phi-core/env.
const model = scripted(({ messages }) =>
  messages.at(-1)?.role === 'toolResult' ? { text: 'Take a coat.' } : { toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] },
)

const store = fileSessionStore(process.env.SESSIONS ?? 'sessions')
const sessions = memoryLiveSessions({ store, agent: () => ({ model, tools: [weather] }) })
await sessions.recover()

// `dev: true` accepts requests from this machine only. Replace it with `authorize` before you deploy.
const { url } = await serve(createAgentApp({ sessions, dev: true }), { port: Number(process.env.PORT ?? 3000) })
console.log(JSON.stringify({ url }))
