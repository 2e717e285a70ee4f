// npx bun examples/bun/sessions.ts; no key needed, the model is scripted
import { scripted } from 'phi-core/providers/scripted'
import { sessionsApp } from '../recipes/http-sessions.ts'

declare const Bun: {
  serve(options: { hostname: string; port: number; fetch: (request: Request) => unknown }): { port: number }
}

const app = sessionsApp(
  scripted(() => ({ text: 'Hello from Bun.' })),
  [],
  process.env.ACCESS_TOKEN,
)
const { port } = Bun.serve({ hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000), fetch: app.fetch })
console.log(JSON.stringify({ port }))
