// node examples/frameworks/serve.ts
// Before: `cp -r node_modules/phi-core/examples . && npm install hono zod vite react react-dom vue svelte solid-js \
//   @vitejs/plugin-vue @sveltejs/vite-plugin-svelte vite-plugin-solid`, or `npm run build` in a clone. It needs no key: the model is scripted.
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { Hono } from 'hono'
import { toNodeHandler } from 'phi-core/node'
import { createServer as createVite } from 'vite'
import { weatherApp } from './agent.ts'

const app = new Hono().route('/agent', weatherApp())
app.get('/phi-elements.js', async (c) => {
  const script = await readFile(new URL('./elements/page.js', import.meta.resolve('phi-core')), 'utf8')
  return c.body(script, 200, { 'content-type': 'text/javascript' })
})
const endpoint = toNodeHandler(app.fetch)
const server = createServer((request, response) => {
  if (/^\/(?:agent\/|phi-elements)/.test(request.url ?? '')) endpoint(request, response)
  else vite.middlewares(request, response)
})
const vite = await createVite({
  ...{ root: import.meta.dirname, configFile: `${import.meta.dirname}/vite.config.ts`, appType: 'mpa', logLevel: 'warn' },
  server: { middlewareMode: true, hmr: { server } },
})
const port = Number(process.env.PORT ?? 3000)
server.listen(port, '127.0.0.1', () => {
  const address = server.address()
  const pages = ['react', 'vue', 'svelte', 'solid', 'elements']
  if (address !== null && typeof address === 'object')
    console.log(JSON.stringify({ port: address.port, pages: pages.map((page) => `http://127.0.0.1:${address.port}/${page}/`) }))
})
