import { describe, expect, it, onTestFinished } from 'vitest'
import type { McpAppCall, McpAppServer } from '../../../adapters/mcp/apps/index.ts'
import { type McpToolSet, type McpToolsOptions, mcpTools } from '../../../adapters/mcp/index.ts'
import { type Answer, type Asked, generations, type PlainServer } from '../in-memory.ts'

const uri = 'ui://shop/cart'
const html = '<p>Cart</p>'
const app = { uri, mimeType: 'text/html;profile=mcp-app', text: html }
const schema = { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] }

const listed = [
  { name: 'show', inputSchema: { type: 'object' }, _meta: { ui: { resourceUri: uri } } },
  { name: 'old', inputSchema: { type: 'object' }, _meta: { 'ui/resourceUri': uri } },
  { name: 'add', inputSchema: schema, _meta: { ui: { visibility: ['app'] } } },
  { name: 'secret', inputSchema: { type: 'object' }, _meta: { ui: { visibility: ['model'] } } },
  { name: 'erase', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } },
  { name: 'nobody', inputSchema: { type: 'object' }, _meta: { ui: { visibility: [] } } },
  { name: 'web', inputSchema: { type: 'object' }, _meta: { ui: { resourceUri: 'https://evil.test/' } } },
]

interface Opened {
  set: McpToolSet
  server: PlainServer
  app: McpAppServer
  /** Calls that reached the server. */
  calls: () => string[]
}

describe.each(Object.entries(generations))('apps of tools, %s', (_, connect) => {
  async function open(options: McpToolsOptions = {}, contents: unknown = [app]): Promise<Opened> {
    const answering = ({ method, params }: Asked): Answer => {
      if (method === 'tools/list') return { result: { tools: listed } }
      if (method === 'tools/call') return { result: { content: [{ type: 'text', text: `ran ${params?.name}` }] } }
      return method === 'resources/read' ? { result: { contents } } : undefined
    }
    const { client, server } = await connect(answering)
    const set = await mcpTools(client, { prefix: 'shop', ...options })
    onTestFinished(() => set.close())
    const found = set.app('shop__show')
    if (found === undefined) throw new Error('The tool has no app.')
    const calls = () => server.asked.flatMap(({ method, params }) => (method === 'tools/call' ? [String(params?.name)] : []))
    return { set, server, app: found, calls }
  }

  const asking = (answer: unknown, asked: McpAppCall[] = []) => ({
    signal: new AbortController().signal,
    approve: (call: McpAppCall) => {
      asked.push(call)
      return answer as boolean
    },
  })

  it('hides tools from the model that only apps may call', async () => {
    const { set } = await open()
    expect(set.map(({ name }) => name)).toEqual(['shop__show', 'shop__old', 'shop__secret', 'shop__erase', 'shop__web'])
  })

  it('finds apps by both forms of metadata, and only with the scheme ui', async () => {
    const { set } = await open()
    expect(['shop__show', 'shop__old', 'shop__secret', 'shop__web', 'constructor'].map((name) => set.app(name)?.tool.name)).toEqual([
      ...['show', 'old'],
      ...[undefined, undefined, undefined],
    ])
    expect(set.app('shop__show')).toBe(set.app('shop__show'))
  })

  it('reads the HTML with its metadata, as text or as base64', async () => {
    const ui = { csp: { connectDomains: ['https://a.test', 3], other: ['x'] }, prefersBorder: true, permissions: { camera: {} } }
    const { app: asText } = await open({}, [
      { uri, mimeType: 'text/plain', text: 'no' },
      { ...app, _meta: { ui } },
    ])
    expect(await asText.read()).toEqual({ html, csp: { connectDomains: ['https://a.test'] }, prefersBorder: true })
    const { app: asBytes } = await open({}, [{ uri, mimeType: 'Text/HTML; profile=mcp-app', blob: btoa(html) }])
    expect(await asBytes.read()).toEqual({ html })
  })

  it.each([
    ['another type', [{ ...app, mimeType: 'text/html' }]],
    ['no contents', 'none'],
    ['no text', [{ ...app, text: undefined }]],
    ['invalid base64', [{ ...app, text: undefined, blob: '%' }]],
    ['too much HTML', [{ ...app, text: 'x'.repeat(4 * 1024 * 1024 + 1) }]],
  ])('rejects an app with %s', async (_case, contents) => {
    const opened = await open({}, contents)
    await expect(opened.app.read()).rejects.toMatchObject({ name: 'ToolError', code: 'failed' })
  })

  it('calls tools of the same server that are visible to apps', async () => {
    const { app: shop, calls } = await open()
    expect(await shop.call('add', { count: 1 }, asking(false))).toEqual({ content: [{ type: 'text', text: 'ran add' }] })
    for (const name of ['secret', 'nobody', 'shop__show', 'constructor', '__proto__', 'unknown']) {
      await expect(shop.call(name, {}, asking(true))).rejects.toThrow('has no such tool for apps')
    }
    expect(calls()).toEqual(['add'])
  })

  it('leaves out tools that the application does not include', async () => {
    const { app: shop, calls } = await open({ include: ['show'] })
    await expect(shop.call('add', { count: 1 }, asking(true))).rejects.toThrow('has no such tool for apps')
    expect(calls()).toEqual([])
  })

  it('validates arguments before it asks or calls', async () => {
    const { app: shop, calls } = await open({ needsApproval: true })
    const asked: McpAppCall[] = []
    await expect(shop.call('add', { count: 'many' }, asking(true, asked))).rejects.toThrow(/Invalid arguments: count/)
    await expect(shop.call('add', JSON.parse('{"count":1e999}'), asking(true, asked))).rejects.toThrow('Invalid arguments')
    expect([asked, calls()]).toEqual([[], []])
  })

  it('requests the approvals that the model needs, and runs only what was shown', async () => {
    const { app: shop, calls, server } = await open()
    const asked: McpAppCall[] = []
    for (const answer of [false, undefined, 'yes', Promise.resolve(false)]) {
      await expect(shop.call('erase', {}, asking(answer, asked))).rejects.toThrow('denied')
    }
    expect(calls()).toEqual([])
    const changing = (call: McpAppCall) => {
      call.args.path = '/'
      return true
    }
    const args = { path: 'a' }
    const running = shop.call('erase', args, { ...asking(true), approve: changing })
    args.path = 'b'
    await running
    expect(asked[0]).toEqual({ toolName: 'shop__erase', label: 'erase', args: {} })
    expect(server.asked.at(-1)?.params).toMatchObject({ name: 'erase', arguments: { path: 'a' } })
  })

  it('applies the rule of the set, and asks if it fails', async () => {
    const rules = { a: () => false, b: () => Promise.resolve(undefined as unknown as boolean), c: () => Promise.reject(new Error('x')) }
    for (const [name, needsApproval] of Object.entries(rules)) {
      const { app: shop } = await open({ needsApproval })
      const asked: McpAppCall[] = []
      await shop.call('erase', {}, asking(true, asked))
      expect([name, asked.length]).toEqual([name, name === 'a' ? 0 : 1])
    }
  })

  it('stops waiting for an approval when the frame is closed', async () => {
    const { app: shop, calls } = await open({ needsApproval: true })
    const closed = new AbortController()
    const calling = shop.call('erase', {}, { signal: closed.signal, approve: () => new Promise(() => undefined) })
    closed.abort(new Error('closed'))
    await expect(calling).rejects.toThrow('closed')
    expect(calls()).toEqual([])
  })

  it('reads resources of the server with the approval of the set', async () => {
    const { app: shop, server } = await open({ needsApproval: true })
    const asked: McpAppCall[] = []
    await expect(shop.readResource('mem:///a', asking(false, asked))).rejects.toThrow('denied')
    expect(await shop.readResource('mem:///a', asking(true, asked))).toEqual([app])
    await expect(shop.readResource('javascript:alert(1)', asking(true))).rejects.toThrow('Cannot read the resource')
    expect(asked[0]).toMatchObject({ toolName: 'read_resource', args: { uri: 'mem:///a' } })
    expect(server.asked.filter(({ method }) => method === 'resources/read')).toHaveLength(1)
  })

  it('refuses every call after the set was closed', async () => {
    const { set, app: shop } = await open()
    await set.close()
    await expect(shop.call('add', { count: 1 }, asking(true))).rejects.toThrow('has no such tool for apps')
  })
})
