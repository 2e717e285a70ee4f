// npx deno run --config examples/deno/deno.json --allow-net=127.0.0.1 --allow-env --unstable-no-legacy-abort examples/deno/server.ts
// In your own project, use `npm:` imports instead of that configuration. No key needed, the model is scripted.
import { scripted } from 'phi-core/testing'
import { agentApp } from '../recipes/servers/http-app.ts'

declare const Deno: {
  env: { get(name: string): string | undefined }
  serve(options: { hostname: string; port: number; onListen(at: { port: number }): void }, fetch: (request: Request) => unknown): void
}

const model = scripted(() => ({ text: 'Hello from Deno.' }), { delayMs: 20 })
const token = Deno.env.get('ACCESS_TOKEN') ?? crypto.randomUUID()
const app = agentApp(model, token)
const onListen = ({ port }: { port: number }) => {
  console.log(`http://127.0.0.1:${port}/runs`)
  if (Deno.env.get('ACCESS_TOKEN') === undefined) console.log(`Authorization: Bearer ${token}`)
}
Deno.serve({ hostname: '127.0.0.1', port: Number(Deno.env.get('PORT') ?? 3000), onListen }, app.fetch)
