import { serve } from '../../test/harness/serve.ts'
import { openai } from '../../test/harness/server/openai.ts'
import { anyPage, type ModelServer, serveModel } from './model-server.ts'

/** An MCP server with an app. */
export interface Shop extends AsyncDisposable {
  url: string
  /** Names of called tools, and paths outside the endpoint that were requested. */
  heard: string[]
}

const uri = 'ui://shop/cart'

/** The app: a cart with buttons. It also tries to reach `url`, which its policy forbids. */
const cart = (url: string) => `<!doctype html>
<html>
  <style>
    :root { color-scheme: light dark; font: 14px/1.5 system-ui, sans-serif }
    body { margin: 0; padding: 12px 16px }
    ul { margin: 4px 0 12px; padding-left: 18px }
    button { font: inherit; margin-right: 6px; padding: 3px 12px }
  </style>
  <b id="title">Cart</b>
  <ul id="items"></ul>
  <button id="add">Add a pear</button><button id="ask">Ask for a recipe</button><button id="link">About pears</button>
  <button id="leave">Leave</button>
  <p id="status"></p>
  <script>
    let next = 0
    const waiting = new Map()
    const post = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')
    const ask = (method, params = {}) => new Promise((resolve) => {
      const id = ++next
      waiting.set(id, resolve)
      post({ id, method, params })
    })
    const fill = (items) => {
      document.getElementById('items').replaceChildren(...items.map((item) => Object.assign(document.createElement('li'), { textContent: item })))
      post({ method: 'ui/notifications/size-changed', params: { height: document.documentElement.scrollHeight } })
    }
    const tell = (text) => { document.getElementById('status').textContent = text }
    addEventListener('message', ({ data }) => {
      waiting.get(data.id)?.(data)
      if (data.method === 'ui/notifications/tool-input') document.getElementById('title').textContent = 'Cart of ' + data.params.arguments.name
      if (data.method === 'ui/notifications/tool-result') fill(data.params.structuredContent.items)
    })
    const act = (id, run) => document.getElementById(id).addEventListener('click', run)
    act('add', async () => {
      const { result, error } = await ask('tools/call', { name: 'add', arguments: { item: 'pear' } })
      if (error) tell(error.message)
      else fill(result.structuredContent.items)
    })
    act('ask', () => ask('ui/message', { role: 'user', content: { type: 'text', text: 'A recipe with these, please.' } }))
    act('link', async () => tell((await ask('ui/open-link', { url: '${url}/about' })).error?.message ?? 'opened'))
    act('leave', () => { location = '${url}/left' })
    fetch('${url}/stolen', { mode: 'no-cors' }).then(() => tell('reached'), () => tell('no network'))
    ask('ui/initialize', { protocolVersion: '2026-01-26', appInfo: { name: 'cart', version: '1' }, appCapabilities: {} })
      .then(() => post({ method: 'ui/notifications/initialized' }))
  </script>
</html>`

const schema = { type: 'object' }
const tools = [
  { name: 'cart', inputSchema: schema, annotations: { readOnlyHint: true }, _meta: { ui: { resourceUri: uri } } },
  { name: 'add', title: 'Add to the cart', inputSchema: schema, _meta: { ui: { visibility: ['app'] } } },
]

/** Serves a shop on this machine, for pages of every origin. */
export async function serveShop(): Promise<Shop> {
  const heard: string[] = []
  const items = ['apple', 'plum']
  const answers: Record<string, (params: { name?: string }, url: string) => object> = {
    initialize: () => ({
      protocolVersion: '2025-06-18',
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name: 'shop', version: '1' },
    }),
    'tools/list': () => ({ tools }),
    'resources/read': (_, url) => ({ contents: [{ uri, mimeType: 'text/html;profile=mcp-app', text: cart(url) }] }),
    'tools/call': ({ name = '' }) => {
      heard.push(name)
      if (name === 'add') items.push('pear')
      return { content: [{ type: 'text', text: JSON.stringify({ items }) }], structuredContent: { items: [...items] } }
    },
  }
  const service = await serve(async (request) => {
    const { pathname, origin } = new URL(request.url)
    if (request.method === 'OPTIONS')
      return new Response(null, { status: 204, headers: { ...anyPage, 'access-control-allow-methods': '*' } })
    if (pathname !== '/mcp') heard.push(pathname)
    if (request.method !== 'POST') return new Response(null, { status: 405, headers: anyPage })
    const { id, method, params = {} } = await request.json()
    if (id === undefined) return new Response(null, { status: 202, headers: anyPage })
    const result = answers[method]?.(params, origin)
    const answer = result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result }
    return Response.json({ jsonrpc: '2.0', id, ...answer }, { headers: anyPage })
  })
  return { url: service.url, heard, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() }
}

/** A model that shows the cart of Ada. */
export function serveClerk(): Promise<ModelServer> {
  return serveModel(openai, ({ body, toolResults }) => {
    if (toolResults.length > 0) return { text: [`In the cart: ${toolResults.join(' ')}`] }
    const name = /"(at-127-0-0-1-\d+__cart)"/.exec(JSON.stringify(body))?.[1]
    return name === undefined
      ? { text: ['I have no such tool.'] }
      : { text: ['Here it is.'], calls: [{ id: 'call_1', name, arguments: { name: 'Ada' } }] }
  })
}
