/// <reference types="vite/client" />
import sdk from '@modelcontextprotocol/ext-apps/app-with-deps?raw'
import { expect, it, onTestFinished, vi } from 'vitest'
import { type McpAppHost, type McpAppServer, mountMcpApp } from '../../adapters/mcp/apps/index.ts'
import { patient } from '../support/patience.ts'

/** A document with the official SDK for apps. Its exports end in a list such as `q as App`. */
const official = (script: string) => {
  const name = /([\w$]+) as App\b/.exec(sdk)?.[1] ?? ''
  return `<p>An app</p><script type="module">${sdk}\n;{ const App = ${name}\n${script} }</script>`
}

it('works with the App class of the official SDK', async () => {
  const lines: string[] = []
  const server: McpAppServer = {
    tool: { name: 'show', title: 'Show', inputSchema: { type: 'object' } },
    read: async () => ({ html: '' }),
    call: async (_name, args, { approve, signal }) => {
      const isApproved = await approve({ toolName: 'say', label: 'say', args }, signal)
      lines.push(`${isApproved} ${args.line}`)
      return { content: [{ type: 'text', text: 'said' }], details: { count: lines.length } }
    },
    readResource: async (uri) => [{ uri, mimeType: 'text/plain', text: 'a resource' }],
  }
  const texts: string[] = []
  const host: McpAppHost = {
    approve: () => true,
    draft: (text) => void texts.push(`draft ${text}`),
    updateContext: (text) => void texts.push(`context ${text}`),
    openLink: (url) => {
      texts.push(`link ${url}`)
      return true
    },
  }
  const script = `
    const app = new App({ name: 'test', version: '1' }, {}, { autoResize: true })
    const say = async (what) => (await app.callServerTool({ name: 'say', arguments: { line: JSON.stringify(what) } })).structuredContent
    const told = []
    app.ontoolinput = (params) => told.push(params)
    app.ontoolresult = (params) => told.push(params)
    app.onhostcontextchanged = (params) => say(params)
    app.onteardown = async () => { await say('teardown'); return {} }
    await app.connect()
    const { theme, displayMode, toolInfo } = app.getHostContext()
    await say([theme, displayMode, toolInfo.tool.name, Object.keys(app.getHostCapabilities())])
    await say(told)
    await say((await app.readServerResource({ uri: 'mem:///a' })).contents[0].text)
    await app.sendMessage({ role: 'user', content: [{ type: 'text', text: 'Hello.' }] })
    await app.updateModelContext({ content: [{ type: 'text', text: 'three items' }] })
    await app.openLink({ url: 'https://example.com/' })
    await say(await app.requestDisplayMode({ mode: 'fullscreen' }))
    await say(await app.callServerTool({ name: 'say', arguments: {} }))`
  const place = document.body.appendChild(document.createElement('div'))
  onTestFinished(() => place.remove())
  const call = { status: 'done', input: { a: 1 }, result: { content: [{ type: 'text' as const, text: 'ok' }], details: { n: 1 } } }
  const frame = mountMcpApp(place, { server, resource: { html: official(script) }, host, call, context: { theme: 'dark' } })
  await vi.waitFor(() => expect(lines).toHaveLength(6), patient)
  expect(lines).toEqual([
    'true ["dark","inline","show",["openLinks","serverTools","serverResources","sandbox","updateModelContext","message"]]',
    'true [{"arguments":{"a":1}},{"content":[{"type":"text","text":"ok"}],"structuredContent":{"n":1}}]',
    'true "a resource"',
    'true {"mode":"inline"}',
    'true undefined',
    'true {"content":[{"type":"text","text":"said"}],"structuredContent":{"count":5}}',
  ])
  expect(texts).toEqual(['draft Hello.', 'context three items', 'link https://example.com/'])
  await vi.waitFor(() => expect(place.querySelector('iframe')?.style.height).toMatch(/^\d+px$/), patient)
  frame.setContext({ theme: 'light' })
  await vi.waitFor(() => expect(lines.at(-1)).toBe('true {"theme":"light"}'), patient)
  await frame.close()
  expect([lines.at(-1), place.childElementCount]).toEqual(['true "teardown"', 0])
})
