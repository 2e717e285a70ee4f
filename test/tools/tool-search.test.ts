import { describe, expect, it, vi } from 'vitest'
import { memorySessionStore, resumeAgent, textOf } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { memoryWorkspace, readFileTool, toolSearch } from '../../src/tools.ts'
import { add, gate, play, tool } from '../support/play.ts'

const named = (name: string, description: string, parameters: object = {}) =>
  tool(name, () => `${name} ran`, { description, parameters: { type: 'object', properties: parameters } })

const many = [
  named('listOpenInvoices', 'Lists invoices that nobody has paid.', { customer: { type: 'string' } }),
  named('refund_payment', 'Gives money back to a customer.', { paymentId: { type: 'string' } }),
  named('get_weather', 'The weather of a place.', { city: { type: 'string' } }),
  ...Array.from({ length: 40 }, (_, at) => named(`other_${at}`, `Does something else, number ${at}.`)),
]
const search = (query: string) => ({ toolCalls: [{ name: 'search_tools', arguments: { query } }] })
const namesIn = (request: { tools: readonly { name: string }[] } | undefined) => request?.tools.map(({ name }) => name)

describe('toolSearch', () => {
  it('adds found tools from the next turn, after all others', async () => {
    const { model, result } = await play(
      [
        search('unpaid invoices of a customer'),
        { toolCalls: [{ name: 'listOpenInvoices', arguments: {} }] },
        search('weather city'),
        { text: 'ok' },
      ],
      { tools: [add, ...toolSearch(many, { most: 1 })] },
    )
    expect(model.provider.requests.map(namesIn)).toEqual([
      ['add', 'search_tools'],
      ['add', 'search_tools', 'listOpenInvoices'],
      ['add', 'search_tools', 'listOpenInvoices'],
      ['add', 'search_tools', 'listOpenInvoices', 'get_weather'],
    ])
    expect(JSON.stringify(result.messages)).toContain('listOpenInvoices ran')
  })

  it.each([
    ['open invoices', 'listOpenInvoices'],
    ['LIST_OPEN_INVOICE', 'listOpenInvoices'],
    ['give the money back', 'refund_payment'],
    ['paymentId', 'refund_payment'],
    ['what is the weather in this city', 'get_weather'],
  ])('matches the query %s to the tool %s first', async (query, name) => {
    const { result } = await play([search(query), { text: 'ok' }], { tools: toolSearch(many) })
    const [found] = result.messages.filter(({ role }) => role === 'toolResult')
    expect(found).toMatchObject({ offers: expect.arrayContaining([name]) })
    expect(found?.role === 'toolResult' && textOf(found.content).split('\n')[1]).toContain(name)
  })

  it('reports when no tool matches and rejects calls of hidden tools', async () => {
    const { model, result } = await play([search('zebra'), { toolCalls: [{ name: 'get_weather', arguments: {} }] }, { text: 'ok' }], {
      tools: toolSearch(many),
    })
    expect(JSON.stringify(result.messages)).toContain('No tool matches')
    expect(JSON.stringify(result.messages)).toContain('Tool get_weather not found')
    expect(model.provider.requests.map(namesIn)).toEqual([['search_tools'], ['search_tools'], ['search_tools']])
  })

  it('restores found tools in the same order after a reload', async () => {
    const store = memorySessionStore()
    const tools = toolSearch(many, { most: 1 })
    const { agent } = await play([search('weather'), search('refund payment'), { text: 'ok' }], { tools, session: store })
    const model = scripted([{ text: 'again' }])
    await (await resumeAgent(store, agent.sessionId, { model, tools })).prompt('go on').result
    expect(namesIn(model.provider.requests[0])).toEqual(['search_tools', 'get_weather', 'refund_payment'])
  })

  it('accepts activeTools that have not been found yet', async () => {
    const find = search('weather')
    const activeTools = ['search_tools', 'get_weather']
    const hidden = await play([find, search('refund payment'), { text: 'ok' }], {
      tools: [add, ...toolSearch(many, { most: 1 })],
      hooks: { prepareTurn: () => ({ activeTools }) },
    })
    expect(hidden.model.provider.requests.map(namesIn)).toEqual([
      ['search_tools'],
      ['search_tools', 'get_weather'],
      ['search_tools', 'get_weather'],
    ])
    const given = await play([find, { text: 'ok' }], { hooks: { prepareTurn: () => ({ tools: toolSearch(many, { most: 1 }) }) } })
    expect(given.model.provider.requests.map(namesIn)).toEqual([['search_tools'], ['search_tools', 'get_weather']])
  })

  it('rejects two tools with the same name', () => {
    expect(() => toolSearch([add, add])).toThrow(/Two tools are named "add"/)
    expect(() => toolSearch([add], { most: 0 })).toThrow(/most/)
    expect(() => toolSearch([add], { name: 'add' })).toThrow(/Two tools/)
  })
})

describe('tool-result offloading', () => {
  const long = `begin ${'x'.repeat(20_000)} end`
  const dump = tool('dump', () => ({ content: [{ type: 'text', text: long }], details: { rows: 3 } }))
  const call = { toolCalls: [{ name: 'dump', arguments: {} }] }

  it('writes a long result to a file and returns both ends and the path', async () => {
    const workspace = memoryWorkspace()
    const { model, events } = await play([call, { text: 'ok' }], { tools: [dump], offload: { over: 5000, workspace } })
    const told = JSON.stringify(model.provider.requests[1]?.messages)
    const [, path = ''] = /in the file (\S+\.txt)/.exec(told) ?? []
    expect(told).toContain('begin xxx')
    expect(told).toContain('xxx end')
    expect(told.length).toBeLessThan(6000)
    expect(new TextDecoder().decode(await workspace.read(path))).toBe(long)
    expect(JSON.stringify(events).length).toBeLessThan(30_000)
    expect(JSON.stringify(events)).toContain('"rows":3')
  })

  it('writes a separate file for a repeated call id', async () => {
    const workspace = memoryWorkspace()
    let count = 0
    const numbered = tool('dump', () => `${++count}${'x'.repeat(6000)}`)
    const again = { toolCalls: [{ id: 'call_1', name: 'dump', arguments: {} }] }
    await play([again, again, { text: 'ok' }], { tools: [numbered], offload: { over: 5000, workspace } })
    const files = await workspace.list('tool-results')
    const begins = await Promise.all(files.map(async ({ path }) => new TextDecoder().decode(await workspace.read(path)).slice(0, 1)))
    expect(begins.sort()).toEqual(['1', '2'])
  })

  it('does not offload short results or results of read_file', async () => {
    const workspace = memoryWorkspace({ 'long.txt': 'line\n'.repeat(200) })
    const read = { toolCalls: [{ name: 'read_file', arguments: { path: 'long.txt' } }] }
    const { model } = await play([read, { text: 'ok' }], { tools: [readFileTool({ workspace })], offload: { over: 50, workspace } })
    expect(JSON.stringify(model.provider.requests[1]?.messages)).not.toContain('tool-results')
    const short = await play([call, { text: 'ok' }], { tools: [dump], offload: { over: 50_000, workspace } })
    expect(JSON.stringify(short.model.provider.requests[1]?.messages)).toContain(long)
  })

  it('returns less text than it wrote', async () => {
    const medium = tool('medium', () => 'abcdefghij'.repeat(120))
    const call = { toolCalls: [{ name: 'medium', arguments: {} }] }
    const { result } = await play([call, { text: 'ok' }], { tools: [medium], offload: { over: 900, workspace: memoryWorkspace() } })
    const [told] = result.messages.filter(({ role }) => role === 'toolResult')
    expect(told?.role === 'toolResult' && textOf(told.content).length).toBeLessThan(1200)
  })

  it('treats a hanging workspace as failing', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const warned: string[] = []
      const logger = { warn: (event: string) => void warned.push(event) }
      let signal: AbortSignal | undefined
      const { opened, open } = gate()
      const stuck = {
        ...memoryWorkspace(),
        write: (_path: string, _bytes: Uint8Array, options?: { signal?: AbortSignal }) => {
          signal = options?.signal
          open()
          return new Promise<never>(() => undefined)
        },
      }
      const playing = play([call, { text: 'ok' }], { tools: [dump], offload: { over: 50, workspace: stuck }, logger })
      await opened
      await vi.advanceTimersByTimeAsync(30_000)
      const { model } = await playing
      expect(JSON.stringify(model.provider.requests[1]?.messages)).toContain(long)
      expect([warned, signal?.aborted]).toEqual([['offloadFailed'], true])
    } finally {
      vi.useRealTimers()
    }
  })

  it('returns the full result with a warning if the workspace fails', async () => {
    const warned: string[] = []
    const broken = { ...memoryWorkspace(), write: () => Promise.reject(new Error('full')) }
    const logger = { warn: (event: string) => void warned.push(event) }
    const { model } = await play([call, { text: 'ok' }], { tools: [dump], offload: { over: 50, workspace: broken }, logger })
    expect(JSON.stringify(model.provider.requests[1]?.messages)).toContain(long)
    expect(warned).toEqual(['offloadFailed'])
  })
})
