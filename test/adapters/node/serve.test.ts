import { createServer } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createAgentApp, createOpenAiApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { serveMcp } from '../../../adapters/mcp/server/index.ts'
import { serve } from '../../../adapters/node/http/serve.ts'
import { Agent, memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

const sessions = () => memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model: scripted([{ text: 'Hello.' }]) }) })

describe('serve', () => {
  it('serves an app or a function on loopback until closed', async () => {
    const server = await serve({ fetch: () => new Response('app') }, { port: 0 })
    expect(server.url).toBe(`http://127.0.0.1:${server.port}`)
    expect(await (await fetch(server.url)).text()).toBe('app')
    await server.close()
    await expect(fetch(server.url)).rejects.toThrow()
    await using other = await serve(() => new Response('function'), { port: 0 })
    expect(await (await fetch(other.url)).text()).toBe('function')
  })

  it('ends streaming responses on close', async () => {
    let cancel: () => void = () => undefined
    const cancelled = new Promise<void>((done) => {
      cancel = done
    })
    const body = () => new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode('a')), cancel })
    const server = await serve(() => new Response(body()), { port: 0 })
    const { body: answer } = await fetch(server.url)
    const reader = answer?.getReader()
    await reader?.read()
    await server.close()
    await expect(reader?.read()).rejects.toThrow()
    await cancelled
  })

  it('reports a port that is in use', async () => {
    const taken = createServer()
    await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done))
    const address = taken.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const second = serve(() => new Response(), { ...(port !== undefined && { port }) })
    await expect(second).rejects.toMatchObject({ name: 'ConfigError', code: 'io' })
    await expect(second).rejects.toThrow(/Another program uses the port/)
    taken.close()
  })

  it('rejects an invalid app and invalid options', async () => {
    // @ts-expect-error no app
    await expect(serve({ get: () => undefined })).rejects.toThrow('app')
    // @ts-expect-error no option
    await expect(serve(() => new Response(), { prot: 1 })).rejects.toThrow('Did you mean port?')
  })
})

describe('createAgentApp({ dev: true })', () => {
  it('accepts local requests, also as operator, but not forwarded ones', async () => {
    await using server = await serve(createAgentApp({ sessions: sessions(), dev: true }), { port: 0 })
    const asked = await fetch(`${server.url}/sessions/s/prompt`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'Hi' }),
    })
    expect(asked.status).not.toBe(401)
    await asked.body?.cancel()
    expect((await fetch(`${server.url}/operator/runs`)).status).not.toBe(403)
    expect((await fetch(`${server.url}/sessions`, { headers: { 'x-forwarded-for': '1.2.3.4' } })).status).toBe(403)
    const app = createAgentApp({ sessions: sessions(), dev: true })
    expect((await app.request('http://agents.example/sessions')).status).toBe(403)
  })

  it('rejects dev together with authorize, and apps with neither', () => {
    // @ts-expect-error both
    expect(() => createAgentApp({ sessions: sessions(), dev: true, authorize: () => true })).toThrow('both dev and authorize')
    // @ts-expect-error none
    expect(() => createAgentApp({ sessions: sessions() })).toThrow('dev: true')
    // @ts-expect-error no flag
    expect(() => createAgentApp({ sessions: sessions(), dev: 'yes' })).toThrow('dev is "yes"')
  })
})

describe('dev: true of the other apps', () => {
  const agents = { helper: { description: 'Helps.', agent: () => new Agent({ model: scripted([]) }) } }
  const initialize = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  }
  const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

  it('accepts local requests but not forwarded ones', async () => {
    await using openAi = await serve(createOpenAiApp({ agents: { helper: agents.helper.agent }, dev: true }), { port: 0 })
    expect((await fetch(`${openAi.url}/v1/models`)).status).toBe(200)
    expect((await fetch(`${openAi.url}/v1/models`, { headers: { 'x-forwarded-for': '1.2.3.4' } })).status).toBe(403)
    const mcp = serveMcp({ agents, dev: true })
    await using server = await serve(mcp, { port: 0 })
    const begin = (headers: object) =>
      fetch(`${server.url}/mcp`, { method: 'POST', headers: { ...accept, ...headers }, body: JSON.stringify(initialize) })
    expect((await begin({})).status).toBe(200)
    expect((await begin({ 'x-forwarded-for': '1.2.3.4' })).status).toBe(403)
    await mcp.close()
  })

  it('rejects dev together with authorize, and apps with neither', () => {
    // @ts-expect-error both
    expect(() => createOpenAiApp({ agents: { helper: agents.helper.agent }, dev: true, authorize: () => true })).toThrow(
      'createOpenAiApp has both',
    )
    // @ts-expect-error none
    expect(() => createOpenAiApp({ agents: { helper: agents.helper.agent } })).toThrow('dev: true')
    // @ts-expect-error both
    expect(() => serveMcp({ agents, dev: true, authorize: () => true })).toThrow('serveMcp has both')
    // @ts-expect-error none
    expect(() => serveMcp({ agents })).toThrow('dev: true')
  })
})
