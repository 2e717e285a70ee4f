// npx deno run --config examples/deno/deno.json --allow-net=127.0.0.1 --allow-env --unstable-no-legacy-abort examples/deno/sessions.ts
// In your own project, use `npm:` imports instead of that configuration. No key needed, the model is scripted.
import { scripted } from 'phi-core/testing'
import { sessionsApp } from '../recipes/servers/http-sessions.ts'

declare const Deno: {
  env: { get(name: string): string | undefined }
  serve(options: { hostname: string; port: number; onListen(at: { port: number }): void }, fetch: (request: Request) => unknown): void
}

const app = sessionsApp(
  scripted(() => ({ text: 'Hello from Deno.' })),
  [],
  Deno.env.get('ACCESS_TOKEN'),
)
const onListen = (at: { port: number }) => console.log(JSON.stringify(at))
Deno.serve({ hostname: '127.0.0.1', port: Number(Deno.env.get('PORT') ?? 3000), onListen }, app.fetch)
