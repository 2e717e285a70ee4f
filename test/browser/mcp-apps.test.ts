import { expect, it, onTestFinished, vi } from 'vitest'
import { type McpAppFrame, type McpAppOptions, mountMcpApp } from '../../adapters/mcp/apps/index.ts'
import { type McpToolSet, mcpTools } from '../../adapters/mcp/index.ts'
import { showApp } from '../../examples/recipes/tools/mcp-apps.ts'
import { baseUrl } from '../harness/env.ts'
import { type Asked, generations, type PlainServer } from '../mcp/in-memory.ts'
import { patient } from '../support/patience.ts'

const uri = 'ui://test/app'
const mimeType = 'text/html;profile=mcp-app'

/** What every app of these tests begins with: `ask` sends a request, `say` logs a line at the server. */
const sdk = `<script>
  let next = 0
  const waiting = new Map()
  const notify = (method, params = {}) => parent.postMessage({ jsonrpc: '2.0', method, params }, '*')
  const ask = (method, params) => new Promise((resolve) => {
    const id = ++next
    waiting.set(id, resolve)
    parent.postMessage({ jsonrpc: '2.0', id, method, params }, '*')
  })
  const say = (line) => ask('tools/call', { name: 'say', arguments: { line: String(line) } })
  addEventListener('message', ({ data }) => {
    waiting.get(data.id)?.(data.result ?? data.error)
    if (data.method !== undefined) globalThis.told?.(data)
    if (data.method === 'ui/resource-teardown') parent.postMessage({ jsonrpc: '2.0', id: data.id, result: {} }, '*')
  })
  const begin = async () => {
    const answer = await ask('ui/initialize', { protocolVersion: '2026-01-26', appInfo: { name: 'test', version: '1' }, appCapabilities: {} })
    notify('ui/notifications/initialized')
    return answer
  }
</script>`

interface Connected {
  set: McpToolSet
  place: HTMLElement
  server: PlainServer
  /** Lines that the app sent to its server. */
  lines: () => string[]
}

/** A place in the page, and the tools of a server in memory. */
async function connected(script: string, csp?: object): Promise<Connected> {
  const html = `${sdk}<body><main id="app">app</main><script type="module">${script}</script>`
  const answering = ({ method, params }: Asked) => {
    if (method === 'resources/read') return { result: { contents: [{ uri, mimeType, text: html, _meta: { ui: { csp } } }] } }
    if (method === 'tools/call') return { result: { content: [{ type: 'text', text: `ran ${params?.name}` }] } }
    const tools = [
      { name: 'show', inputSchema: { type: 'object' }, _meta: { ui: { resourceUri: uri } } },
      { name: 'say', inputSchema: { type: 'object' }, _meta: { ui: { visibility: ['app'] } } },
      { name: 'erase', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } },
    ]
    return method === 'tools/list' ? { result: { tools } } : undefined
  }
  const connect = generations['client 2.x']
  if (connect === undefined) throw new Error('There is no client.')
  const { client, server } = await connect(answering)
  const set = await mcpTools(client)
  const place = document.body.appendChild(document.createElement('div'))
  onTestFinished(async () => {
    await set.close()
    place.remove()
  })
  const lines = () =>
    server.asked.flatMap(({ params }) => (params?.name === 'say' && params.arguments ? [String(params.arguments.line)] : []))
  return { set, place, server, lines }
}

type Given = Partial<McpAppOptions> & { csp?: object }

/** Shows an app in the page. */
async function open(script: string, { csp, ...options }: Given = {}): Promise<Connected & { frame: McpAppFrame }> {
  const made = await connected(script, csp)
  const app = made.set.app('show')
  if (app === undefined) throw new Error('The tool has no app.')
  const frame = mountMcpApp(made.place, { server: app, resource: await app.read(), ...options })
  onTestFinished(() => frame.close())
  return { ...made, frame }
}

const soon = (check: () => void) => vi.waitFor(check, patient)

const probe = (url: string) => `
  const outcome = (work) => work.then(() => 'allowed', () => 'blocked')
  const loaded = (element, source) => new Promise((resolve, reject) => {
    element.onload = resolve
    element.onerror = reject
    element.src = source
    document.body.append(element)
  })
  const tried = async (act) => { try { await act(); return 'allowed' } catch { return 'blocked' } }
  await say('origin ' + origin)
  await say('mode ' + document.compatMode)
  await say('parent ' + (await tried(() => parent.document.title)))
  await say('top ' + (await tried(() => top.document.title)))
  await say('storage ' + (await tried(() => localStorage.length)))
  await say('cookies ' + (await tried(() => { if (document.cookie === '') throw 0 })))
  await say('eval ' + (await tried(() => eval('1'))))
  await say('fetch ' + (await outcome(fetch('${url}', { mode: 'no-cors' }))))
  await say('image ' + (await outcome(loaded(new Image(), '${url}'))))
  await say('script ' + (await outcome(loaded(document.createElement('script'), '${url}'))))
  await say('popup ' + (await tried(() => open('${url}').closed)))
  // Some browsers throw, others ignore it.
  await tried(() => { top.location = '${url}' })
  await say('end')`

it('has no origin, no network and no access to the page', async () => {
  const title = document.title
  // biome-ignore lint/suspicious/noDocumentCookie: this is what the app must not see.
  document.cookie = 'visible=1'
  const { lines, place } = await open(probe(`${baseUrl()}/`))
  await soon(() => expect(lines()).toContain('end'))
  expect(lines()).toEqual([
    ...['origin null', 'mode CSS1Compat', 'parent blocked', 'top blocked', 'storage blocked', 'cookies blocked', 'eval blocked'],
    ...['fetch blocked', 'image blocked', 'script blocked', 'popup blocked', 'end'],
  ])
  const element = place.querySelector('iframe')
  expect(['sandbox', 'allow', 'referrerpolicy', 'src'].map((name) => element?.getAttribute(name))).toEqual([
    'allow-scripts',
    '',
    'no-referrer',
    null,
  ])
  expect(document.title).toBe(title)
  // The same request from here succeeds.
  await fetch(`${baseUrl()}/`, { mode: 'no-cors' })
})

it('refuses a network that the app writes into its own document', async () => {
  const { lines } = await open(`
    const meta = document.createElement('meta')
    meta.httpEquiv = 'Content-Security-Policy'
    meta.content = 'connect-src *'
    document.head.prepend(meta)
    await say(await fetch('${baseUrl()}/', { mode: 'no-cors' }).then(() => 'allowed', () => 'blocked'))
    const nested = document.createElement('iframe')
    nested.srcdoc = '<script>fetch("${baseUrl()}/", { mode: "no-cors" }).then(() => parent.postMessage("nested allowed", "*"), () => parent.postMessage("nested blocked", "*"))<\\/script>'
    addEventListener('message', ({ data }) => { if (typeof data === 'string') say(data) })
    document.body.append(nested)`)
  await soon(() => expect(lines()).toContain('blocked'))
  const other = await open(`await say('another app')`)
  await soon(() => expect(other.lines()).toEqual(['another app']))
  // Some browsers do not even load it.
  expect(lines()).not.toContain('nested allowed')
})

it('lists the domains that an app may use', async () => {
  const csp = { connectDomains: ['https://api.example.com', '*'], resourceDomains: ['https://api.example.com', 'http://localhost:1'] }
  const { frame, lines } = await open(`await say(JSON.stringify((await begin()).hostCapabilities.sandbox.csp))`, { csp })
  expect(frame.domains).toEqual(['https://api.example.com'])
  const approved = {
    connectDomains: ['https://api.example.com'],
    resourceDomains: ['https://api.example.com'],
    frameDomains: [],
    baseUriDomains: [],
  }
  await soon(() => expect(lines()).toEqual([JSON.stringify(approved)]))
})

it('shows the app its call, its context and its size', async () => {
  const { frame, place, lines } = await open(
    `globalThis.told = ({ method, params }) => say(method.split('/').at(-1) + ' ' + JSON.stringify(params))
    const { hostContext } = await begin()
    await say(hostContext.theme + ' ' + hostContext.toolInfo.tool.name + ' ' + typeof hostContext.timeZone)
    notify('ui/notifications/size-changed', { height: 123.4, width: 9999 })`,
    { call: { status: 'running', input: { a: 1 } }, context: { theme: 'dark' }, maxHeight: 200 },
  )
  await soon(() => expect(place.querySelector('iframe')?.style.height).toBe('124px'))
  frame.update({ status: 'done', input: { a: 1 }, result: { content: [{ type: 'text', text: 'hi' }] } })
  frame.setContext({ theme: 'light' })
  await soon(() => expect(lines()).toHaveLength(4))
  expect(lines().toSorted()).toEqual([
    'dark show string',
    'host-context-changed {"theme":"light"}',
    'tool-input {"arguments":{"a":1}}',
    'tool-result {"content":[{"type":"text","text":"hi"}]}',
  ])
})

it('runs a destructive call only after the approval of the user', async () => {
  let approve: (isApproved: boolean) => void = () => undefined
  const asked: unknown[] = []
  const host = {
    approve: (call: unknown) => {
      asked.push(call)
      return new Promise<boolean>((resolve) => {
        approve = resolve
      })
    },
  }
  const call = `await say(JSON.stringify(await ask('tools/call', { name: 'erase', arguments: { path: '/' } })));`
  const { lines, server } = await open(`${call} ${call}`, { host })
  const erased = () => server.asked.filter(({ params }) => params?.name === 'erase').length
  await soon(() => expect(asked).toHaveLength(1))
  expect(asked[0]).toEqual({ toolName: 'erase', label: 'erase', args: { path: '/' } })
  expect(erased()).toBe(0)
  approve(false)
  await soon(() => expect(asked).toHaveLength(2))
  expect([erased(), lines()]).toEqual([0, ['{"code":-32000,"message":"The user denied the call of erase."}']])
  approve(true)
  await soon(() => expect(lines()[1]).toContain('ran erase'))
  expect(erased()).toBe(1)
})

it('reads messages of its own frame alone', async () => {
  const { lines } = await open(`await say('ready')`)
  await soon(() => expect(lines()).toEqual(['ready']))
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'say', arguments: { line: 'forged' } } }
  postMessage(request, '*')
  dispatchEvent(new MessageEvent('message', { data: request, origin: 'null' }))
  const other = document.body.appendChild(document.createElement('iframe'))
  other.setAttribute('sandbox', 'allow-scripts')
  const done = new Promise<void>((resolve) => addEventListener('message', ({ data }) => data === 'done' && resolve()))
  other.srcdoc = `<script>parent.postMessage(${JSON.stringify(request)}, '*'); parent.postMessage('done', '*')</script>`
  await done
  other.remove()
  expect(lines()).toEqual(['ready'])
})

it('blocks navigation, before and after the document has loaded', async () => {
  const escaped = `<script>parent.postMessage({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'say', arguments: { line: 'escaped' } } }, '*')<\\/script>`
  const leave = `location = 'data:text/html,' + encodeURIComponent(\`${escaped}\`)`
  for (const script of [leave, `await say('loaded'); ${leave}`]) {
    const { lines, place } = await open(script)
    await new Promise((resolve) => place.querySelector('iframe')?.addEventListener('load', resolve, { once: true }))
    const other = await open(`await say('another app')`)
    await soon(() => expect(other.lines()).toEqual(['another app']))
    expect(lines()).not.toContain('escaped')
  }
})

it('removes a frame that floods the page', async () => {
  const ends: string[] = []
  const flood = `for (let n = 0; n < 5000; n += 1) parent.postMessage({ jsonrpc: '2.0', id: n, method: 'ping' }, '*')`
  const { place } = await open(flood, { host: { onEnd: (reason) => void ends.push(reason) } })
  await soon(() => expect(ends).toEqual(['The app sent too many messages.']))
  expect(place.childElementCount).toBe(0)
})

it('lets the app end before it is removed', async () => {
  const { frame, place, lines } = await open(`globalThis.told = ({ method }) => method.startsWith('ui/resource') && say(method)
    await begin()
    await say('ready')`)
  await soon(() => expect(lines()).toEqual(['ready']))
  await frame.close()
  expect([place.childElementCount, lines()]).toEqual([0, ['ready', 'ui/resource-teardown']])
})

it('examples/recipes/tools/mcp-apps.ts asks before calls and links, and fills the composer', async () => {
  const { set, place, lines } = await connected(`
    await begin()
    await say((await ask('tools/call', { name: 'erase', arguments: {} })).message)
    await say((await ask('ui/open-link', { url: 'https://example.com/' })).message)
    await ask('ui/message', { role: 'user', content: { type: 'text', text: 'Buy it.' } })
    await say('end')`)
  const asked: (string | undefined)[] = []
  vi.stubGlobal('confirm', (question?: string) => {
    asked.push(question)
    return false
  })
  onTestFinished(() => void vi.unstubAllGlobals())
  const composer = document.createElement('textarea')
  expect(await showApp(place, set, { toolName: 'say', status: 'done' }, composer)).toBeUndefined()
  const frame = await showApp(place, set, { toolName: 'show', status: 'done', input: {} }, composer)
  onTestFinished(() => frame?.close())
  await soon(() => expect(lines()).toContain('end'))
  expect(lines()).toEqual(['The user denied the call of erase.', 'The user did not open the link.', 'end'])
  expect([asked, composer.value]).toEqual([
    ['The app wants to call erase with {}. Allow?', 'The app wants to open https://example.com/. Open it?'],
    'Buy it.',
  ])
})

it('rejects invalid options', () => {
  const server = { tool: { name: 'a' }, read: () => undefined, call: () => undefined, readResource: () => undefined }
  const options = [
    { server: {}, resource: { html: '' } },
    { server, resource: {} },
    { server, resource: { html: '' }, sandbox: 'allow-same-origin' },
  ]
  for (const each of options) expect(() => mountMcpApp(document.body, each as never)).toThrow(/server|html|sandbox/)
  expect(document.querySelector('iframe[sandbox="allow-scripts"]')).toBeNull()
})
