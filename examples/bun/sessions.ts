// npx bun examples/bun/sessions.ts; no key needed, the model is scripted
import { scripted } from 'phi-core/testing'
import { sessionsApp } from '../recipes/servers/http-sessions.ts'

declare const Bun: {
  serve(options: { hostname: string; port: number; idleTimeout: number; fetch: (request: Request) => unknown }): { port: number }
}

const app = sessionsApp(
  scripted(() => ({ text: 'Hello from Bun.' })),
  [],
  process.env.ACCESS_TOKEN,
)
// Bun closes connections that are idle for 10 s. The server pings every 15 s.
const idleTimeout = 60
const { port } = Bun.serve({ hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000), idleTimeout, fetch: app.fetch })
console.log(JSON.stringify({ port }))
