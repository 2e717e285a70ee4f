// node examples/frameworks/serve.ts     (in this repository, after `npm run build`); no key needed, the model is scripted
import { createServer } from 'node:http'
import { Hono } from 'hono'
import { toNodeHandler } from 'phi-core/adapters/node'
import { createServer as createVite } from 'vite'
import { weatherApp } from './agent.ts'

const endpoint = toNodeHandler(new Hono().route('/agent', weatherApp()).fetch)
const server = createServer((request, response) => {
  if (request.url?.startsWith('/agent/')) endpoint(request, response)
  else vite.middlewares(request, response)
})
const vite = await createVite({
  ...{ root: import.meta.dirname, configFile: `${import.meta.dirname}/vite.config.ts`, appType: 'mpa', logLevel: 'warn' },
  server: { middlewareMode: true, hmr: { server } },
})
// Open /react/, /vue/, /svelte/ or /solid/.
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log(JSON.stringify(server.address())))
