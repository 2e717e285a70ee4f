import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { connectMcp, type McpToolSet, type McpToolsOptions, mcpTools } from '../../../adapters/mcp/index.ts'
import { connectMcpStdio } from '../../../adapters/node/mcp/index.ts'
import { Agent, textOf } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { patient } from '../../support/patience.ts'
import { freePort, startEverything } from './http-server.ts'
import { told } from './told.ts'

/** A set of the server `resource-server.mjs`, and the lines that it logs. */
async function ownServer(options: McpToolsOptions = {}): Promise<{ set: McpToolSet; log(): string[] }> {
  const directory = mkdtempSync(join(tmpdir(), 'phi-resources-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const path = join(directory, 'log')
  const args = [join(import.meta.dirname, 'resource-server.mjs'), path]
  const set = await mcpTools(await connectMcpStdio({ command: process.execPath, args }), options)
  onTestFinished(() => set.close())
  return { set, log: () => readFileSync(path, 'utf8').trim().split('\n') }
}

const textIn = (message: Awaited<ReturnType<McpToolSet['prompt']>>[number]) =>
  message.role === 'user' && typeof message.content !== 'string' ? textOf(message.content) : undefined

const everything: Record<string, () => Promise<McpToolSet>> = {
  stdio: async () => {
    const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/package.json')
    const args = [join(manifest, '..', 'dist', 'index.js'), 'stdio']
    return mcpTools(await connectMcpStdio({ command: process.execPath, args }))
  },
  'Streamable HTTP': async () => mcpTools(await connectMcp({ url: `${(await startEverything('streamableHttp')).url}/mcp` })),
}

describe.each(Object.entries(everything))('resources and prompts of the official server over %s', (_, connect) => {
  it('lists and reads resources, completes arguments, subscribes and returns prompts', async () => {
    const set = await connect()
    onTestFinished(() => set.close())
    const { resources, templates } = await set.resources()
    expect(resources.length).toBeGreaterThan(3)
    expect(templates).toContainEqual(
      expect.objectContaining({ uriTemplate: 'demo://resource/dynamic/text/{resourceId}', name: 'Dynamic Text Resource' }),
    )
    expect(textOf(await set.readResource('demo://resource/dynamic/text/7'))).toMatch(
      /^\[resource demo:\/\/resource\/dynamic\/text\/7\]Resource 7: This is a plaintext/,
    )
    const prompts = await set.prompts()
    expect(prompts.find(({ name }) => name === 'args-prompt')?.arguments).toMatchObject([
      { name: 'city', required: true },
      { name: 'state', required: false },
    ])
    expect((await set.prompt('args-prompt', { city: 'Ulm' })).map(textIn)).toEqual(["What's weather in Ulm?"])
    const names = { prompt: 'completable-prompt', argument: 'name', value: '', arguments: { department: 'Sales' } }
    expect(await set.complete(names)).toEqual(['David', 'Eve', 'Frank'])
    const template = 'demo://resource/dynamic/text/{resourceId}'
    expect(await set.complete({ template, argument: 'resourceId', value: '4' })).toEqual(['4'])
    const isChanged = new Promise<string>((resolve) => void set.onResourceChange('demo://resource/dynamic/text/7', resolve))
    await told(set, 'toggle-subscriber-updates')
    expect(await isChanged).toBe('demo://resource/dynamic/text/7')
  })
})

describe('resources of a stdio server', () => {
  it('lists all pages and templates', async () => {
    const { set } = await ownServer()
    const { resources, templates } = await set.resources()
    expect(resources.map(({ uri }) => uri)).toEqual(['mem:///notes', 'mem:///pixel.png', 'mem:///big'])
    expect(resources[0]).toEqual({
      ...{ uri: 'mem:///notes', name: 'notes', title: 'Notes', description: 'What to remember', mimeType: 'text/plain', size: 5 },
    })
    expect(templates).toEqual([{ uriTemplate: 'mem:///{name}', name: 'by name' }])
    expect(await set.complete({ template: 'mem:///{name}', argument: 'name', value: 'p' })).toEqual(['pixel.png'])
  })

  it('reads text and images, and truncates long text', async () => {
    const { set } = await ownServer()
    expect(textOf(await set.readResource('mem:///notes'))).toBe('[resource mem:///notes]hello')
    expect(await set.readResource('mem:///pixel.png')).toContainEqual(expect.objectContaining({ type: 'image', mimeType: 'image/png' }))
    const big = textOf(await set.readResource('mem:///big'))
    expect(big.length).toBeLessThan(263_000)
    expect(big).toMatch(/\(output truncated\)$/)
    await expect(set.readResource('mem:///missing')).rejects.toMatchObject({
      name: 'ToolError',
      code: 'failed',
      message: expect.stringContaining('No resource mem:///missing'),
    })
  })

  it('repeats a read once if the server process ends, and fails if it ends again', async () => {
    const { set, log } = await ownServer()
    expect(textOf(await set.readResource('mem:///exitOnce'))).toContain('back')
    await expect(set.readResource('mem:///exit')).rejects.toMatchObject({
      code: 'failed',
      message: expect.stringContaining('retry failed'),
    })
    expect(log().filter((line) => line === 'start')).toHaveLength(3)
  })

  it('stops a read on timeout and abort, and leaves no timer behind', async () => {
    const { set } = await ownServer({ timeoutMs: 200 })
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    await expect(set.readResource('mem:///hang')).rejects.toMatchObject({ code: 'timeout', message: expect.stringContaining('200 ms') })
    const stop = new AbortController()
    const reading = set.readResource('mem:///hang', { signal: stop.signal })
    stop.abort()
    await expect(reading).rejects.toMatchObject({ code: 'cancelled' })
    await expect(set.resources({ signal: stop.signal })).rejects.toMatchObject({ code: 'cancelled' })
    expect(timers()).toBeLessThanOrEqual(before)
  })

  it('subscribes with the first listener and unsubscribes with the last', async () => {
    const { set, log } = await ownServer()
    const [first, second] = [vi.fn(), vi.fn()]
    const stops = await Promise.all([set.onResourceChange('mem:///notes', first), set.onResourceChange('mem:///notes', second)])
    await vi.waitFor(() => expect(second).toHaveBeenCalledWith('mem:///notes'), patient)
    expect(first).toHaveBeenCalledTimes(1)
    const isChanged = new Promise<string>((resolve) => set.onListChange(resolve))
    for (const stop of [...stops, ...stops]) stop()
    expect(await isChanged).toBe('resources')
    expect(log()).toEqual(['start', 'subscribe mem:///notes', 'unsubscribe mem:///notes'])
  })

  it('subscribes again after a restart of the server, and notifies the listeners', async () => {
    const { set, log } = await ownServer()
    const listener = vi.fn()
    await set.onResourceChange('mem:///notes', listener)
    await vi.waitFor(() => expect(listener).toHaveBeenCalledTimes(1), patient)
    await set.readResource('mem:///exitOnce')
    await vi.waitFor(() => expect(listener.mock.calls.length).toBeGreaterThan(2), patient)
    expect(log()).toEqual(['start', 'subscribe mem:///notes', 'start', 'subscribe mem:///notes'])
  })

  it('subscribes again after a restart of a Streamable HTTP server', async () => {
    const port = await freePort()
    const first = await startEverything('streamableHttp', port)
    const set = await mcpTools(await connectMcp({ url: `${first.url}/mcp` }))
    onTestFinished(() => set.close())
    const listener = vi.fn()
    await set.onResourceChange('demo://resource/dynamic/text/1', listener)
    await first.kill()
    await startEverything('streamableHttp', port)
    await set.readResource('demo://resource/dynamic/text/2')
    await vi.waitFor(() => expect(listener).toHaveBeenCalledWith('demo://resource/dynamic/text/1'), patient)
  })

  it('rejects and calls no listener after close', async () => {
    const { set } = await ownServer()
    const listener = vi.fn()
    await set.onResourceChange('mem:///notes', listener)
    await set.close()
    const calls = listener.mock.calls.length
    await expect(set.readResource('mem:///notes')).rejects.toThrow('was closed')
    expect(listener).toHaveBeenCalledTimes(calls)
  })
})

describe('prompts of a stdio server', () => {
  it('runs an agent with the messages of a prompt', async () => {
    const { set } = await ownServer()
    const agent = new Agent({ model: scripted([{ text: 'Hi Ann' }]) })
    expect((await agent.prompt(await set.prompt('greet', { who: 'Ann', tone: 'short' })).result).status).toBe('completed')
    expect(agent.messages[0]).toMatchObject({ role: 'user', content: [{ type: 'text', text: 'Greet Ann, short' }] })
  })

  it('converts images, responses and embedded resources', async () => {
    const { set } = await ownServer()
    expect(await set.prompt('picture')).toMatchObject([
      { role: 'user', content: [{ type: 'image' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'A pixel.' }] },
      { role: 'user', content: [{ text: '[resource mem:///notes]' }, { text: 'hello' }] },
    ])
  })
})

describe('mcpTools with resourceTools', () => {
  it('gives the model tools that list and read resources', async () => {
    const { set } = await ownServer({ prefix: 'mem', resourceTools: true })
    expect(set.map(({ name }) => name)).toEqual(['mem__list_resources', 'mem__read_resource'])
    expect(await told(set, 'mem__list_resources', { offset: 2 })).toEqual({
      text: 'mem:///big "big"\ntemplate mem:///{name} "by name"',
      isError: false,
    })
    expect(await told(set, 'mem__read_resource', { uri: 'mem:///notes' })).toEqual({ text: '[resource mem:///notes]hello', isError: false })
    expect(await told(set, 'mem__read_resource', { uri: 'javascript:alert(1)' })).toMatchObject({ isError: true })
    expect(await set.refresh()).toEqual({ added: [], removed: [], changed: [] })
  })

  it('is off by default', async () => {
    const { set } = await ownServer()
    expect(set).toHaveLength(0)
  })
})
