import { expect, it, onTestFinished, vi } from 'vitest'
import { modelProxy } from '../../examples/recipes/servers/model-proxy.ts'
import { modelBehind } from '../../examples/recipes/servers/model-proxy-client.ts'
import { Agent } from '../../src/index.ts'
import { serve } from '../harness/serve.ts'
import { anthropic } from '../harness/server/anthropic.ts'

it("calls the provider with the server's key for known users only", async () => {
  const asked: { url: string; key: string | null }[] = []
  const service = async (url: string, init: RequestInit): Promise<Response> => {
    asked.push({ url, key: new Headers(init.headers).get('x-api-key') })
    return new Response(anthropic.frames({ text: ['Hello.'] }).join(''), { headers: { 'content-type': 'text/event-stream' } })
  }
  const proxy = modelProxy(new Map([['token-of-ann', 'ann']]), { anthropic: 'sk-ant-of-the-server', openai: 'sk-of-the-server' })
  const server = await serve((request) => proxy.fetch(request))
  onTestFinished(() => server[Symbol.asyncDispose]())
  const { fetch } = globalThis
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => (url.startsWith(server.url) ? fetch(url, init) : service(url, init)))
  onTestFinished(() => void vi.unstubAllGlobals())
  expect(await new Agent({ model: modelBehind(server.url, 'token-of-ann') }).prompt('Hi').text()).toBe('Hello.')
  expect(asked).toEqual([{ url: 'https://api.anthropic.com/v1/messages', key: 'sk-ant-of-the-server' }])
  const { error } = await new Agent({ model: modelBehind(server.url, 'token-of-nobody'), retry: false }).prompt('Hi').result
  expect(error?.code).toBe('auth')
  expect(asked).toHaveLength(1)
})
