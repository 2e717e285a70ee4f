// npx bun examples/bun/server.ts; no key needed, the model is scripted
import { scripted } from 'phi-core/testing'
import { agentApp } from '../recipes/servers/http-app.ts'

declare const Bun: {
  serve(options: { hostname: string; port: number; idleTimeout: number; fetch: (request: Request) => unknown }): { port: number }
}

const model = scripted(() => ({ text: 'Hello from Bun.' }), { delayMs: 20 })
const token = process.env.ACCESS_TOKEN ?? crypto.randomUUID()
const app = agentApp(model, token)
// Bun closes connections that are idle for 10 s. The server pings every 15 s.
const idleTimeout = 60
const server = Bun.serve({ hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000), idleTimeout, fetch: app.fetch })
console.log(`http://127.0.0.1:${server.port}/runs`)
if (process.env.ACCESS_TOKEN === undefined) console.log(`Authorization: Bearer ${token}`)
