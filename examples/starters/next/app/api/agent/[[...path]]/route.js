import { Hono } from 'hono'
import { cookies } from 'next/headers'
import { defineTool, memorySessionStore } from 'phi-core'
import { modelFromEnv } from 'phi-core/env'
import { createAgentApp, memoryLiveSessions } from 'phi-core/http'
import { scripted } from 'phi-core/testing'

// With PHI_MODEL and its key in the environment, a real model responds.
const demo = () => scripted(() => ({ text: 'I am a scripted model. Set ANTHROPIC_API_KEY, and a real one answers.' }))
const model = process.env.PHI_MODEL ? await modelFromEnv(process.env.PHI_MODEL) : demo()

const clock = defineTool({
  name: 'clock',
  description: 'The time on the server.',
  parameters: { type: 'object', properties: {} },
  needsApproval: true,
  execute: () => new Date().toISOString(),
})

// This store is in memory. To persist sessions, use fileSessionStore, or postgresSessionStore for several processes.
const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model, tools: [clock] }) })
// Each visitor has separate sessions. Put your login here.
const agents = createAgentApp({ sessions, authorize: async () => (await cookies()).get('visitor')?.value ?? false })
const app = new Hono().route('/api/agent', agents)

const handler = (request) => app.fetch(request)

export { handler as DELETE, handler as GET, handler as POST }
