import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { McpAppCallState, McpAppHost, McpAppServer } from '../../../adapters/mcp/apps/index.ts'
import type { JsonObject } from '../../../src/index.ts'
import { approvedDomains } from '../../../src/mcp/apps/app-policy.ts'
import { AppSession } from '../../../src/mcp/apps/app-session.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

type Posted = { id?: unknown; method?: string; params?: JsonObject; result?: JsonObject; error?: { code: number; message: string } }

/** A frame without a page: what it sends, and what the host posts to it. */
function open(host: McpAppHost = {}, own: Partial<McpAppServer> = {}) {
  const posted: Posted[] = []
  const heights: number[] = []
  const ends: (string | undefined)[] = []
  const server: McpAppServer = {
    tool: { name: 'show', title: 'Show' },
    read: async () => ({ html: '' }),
    call: async (name) => ({ content: [{ type: 'text', text: `ran ${name}` }], details: { name } }),
    readResource: async (uri) => [{ uri, text: 'hello' }],
    ...own,
  }
  const session = new AppSession({
    ...{ server, host, maxHeight: 400, domains: approvedDomains({ connectDomains: ['https://a.test', '*'] }) },
    context: { theme: 'dark', locale: 'en-GB' },
    post: (message) => void posted.push(message as Posted),
    onSize: (height) => void heights.push(height),
    onEnd: (reason) => void ends.push(reason),
  })
  let id = 0
  const send = (data: unknown) => session.receive({ data })
  /** Sends a request, and returns the host's response. */
  const ask = async (method: string, params?: unknown): Promise<Posted | undefined> => {
    const own = ++id
    send({ jsonrpc: '2.0', id: own, method, params })
    await vi.advanceTimersByTimeAsync(0)
    return posted.find((message) => message.id === own)
  }
  const begin = () => send({ jsonrpc: '2.0', method: 'ui/notifications/initialized' })
  const told = () =>
    posted.flatMap(({ method, params }) => (method === undefined ? [] : [[method.replace('ui/notifications/', ''), params]]))
  return { session, posted, heights, ends, send, ask, begin, told }
}

const done: McpAppCallState = { status: 'done', input: { a: 1 }, result: { content: [{ type: 'text', text: 'hi' }], details: { n: 1 } } }

describe('the session of an app', () => {
  it('tells the app about the host', async () => {
    const { ask } = open({ draft: () => undefined })
    const { result } = (await ask('ui/initialize', { protocolVersion: '2026-01-26' })) ?? {}
    expect(result).toEqual({
      protocolVersion: '2026-01-26',
      hostInfo: { name: 'phi-core', version: '0.1.0' },
      hostCapabilities: {
        ...{ serverTools: {}, serverResources: {}, message: { text: {} } },
        sandbox: {
          permissions: {},
          csp: { connectDomains: ['https://a.test'], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
        },
      },
      hostContext: {
        ...{ theme: 'dark', locale: 'en-GB', displayMode: 'inline', availableDisplayModes: ['inline'], platform: 'web' },
        ...{
          containerDimensions: { maxHeight: 400 },
          toolInfo: { tool: { name: 'show', title: 'Show', inputSchema: { type: 'object' } } },
        },
      },
    })
  })

  it('sends nothing before the app is initialized, then the arguments and the result once', () => {
    const { session, begin, told } = open()
    session.show({ status: 'running', input: { a: 1 } })
    session.setContext({ theme: 'light' })
    expect(told()).toEqual([])
    begin()
    session.show(done)
    session.show({ ...done })
    session.setContext({ theme: 'dark' })
    expect(told()).toEqual([
      ['tool-input', { arguments: { a: 1 } }],
      ['tool-result', { content: [{ type: 'text', text: 'hi' }], structuredContent: { n: 1 } }],
      ['host-context-changed', { theme: 'dark' }],
    ])
  })

  it('sends partial arguments at most every 100 ms, and none after the complete ones', () => {
    const { session, begin, told } = open()
    begin()
    for (const inputText of ['{"a":"x', '{"a":"xy', '{"a":"xyz']) {
      session.show({ status: 'streaming', inputText })
      vi.advanceTimersByTime(60)
    }
    session.show({ status: 'running', inputText: '{"a":"xyz!"}', input: { a: 'xyz!' } })
    vi.advanceTimersByTime(1000)
    session.show({ status: 'running', inputText: '{"a":"xyz!"}', input: { a: 'xyz!' } })
    expect(told()).toEqual([
      ['tool-input-partial', { arguments: { a: 'x' } }],
      ['tool-input-partial', { arguments: { a: 'xyz' } }],
      ['tool-input', { arguments: { a: 'xyz!' } }],
    ])
  })

  it('reads the structured content of a stored result from its text', () => {
    const results = ['{"n":1}', '{"n":', '[1]', 'hi'].map((text) => {
      const { session, begin, told } = open()
      begin()
      session.show({ status: 'done', input: {}, result: { content: [{ type: 'text', text }] } })
      return told().at(-1)?.[1]
    })
    expect(results).toMatchObject([{ structuredContent: { n: 1 } }, {}, {}, {}])
    expect(results.filter((result) => Object.hasOwn(Object(result), 'structuredContent'))).toHaveLength(1)
  })

  it('says why a call has no result', () => {
    const { session, begin, told } = open()
    begin()
    session.show({ status: 'denied', input: {}, reason: 'not now' })
    expect(told()).toEqual([
      ['tool-input', { arguments: {} }],
      ['tool-cancelled', { reason: 'not now' }],
    ])
  })

  it('answers calls and reads of the server, and reports failures as errors', async () => {
    const call = async (name: string) => {
      if (name === 'bad') throw new Error('The user denied the call of bad.')
      return { content: [{ type: 'image' as const, mimeType: 'image/png', data: 'AAAA' }], isError: true }
    }
    const { ask } = open({}, { call })
    expect(await ask('tools/call', { name: 'good', arguments: { a: 1 } })).toMatchObject({
      result: { content: [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }], isError: true },
    })
    expect(await ask('tools/call', { name: 'bad' })).toMatchObject({
      error: { code: -32000, message: 'The user denied the call of bad.' },
    })
    expect(await ask('resources/read', { uri: 'mem:///a' })).toMatchObject({ result: { contents: [{ uri: 'mem:///a', text: 'hello' }] } })
    expect(await ask('ping')).toMatchObject({ result: {} })
    expect(await ask('ui/request-display-mode', { mode: 'fullscreen' })).toMatchObject({ result: { mode: 'inline' } })
  })

  it('denies calls that need an approval if the host cannot ask', async () => {
    const answers: unknown[] = []
    const call: McpAppServer['call'] = async (toolName, args, { approve, signal }) => {
      answers.push(await approve({ toolName, label: toolName, args }, signal))
      return { content: [] }
    }
    await open({}, { call }).ask('tools/call', { name: 'a' })
    await open({ approve: async () => true }, { call }).ask('tools/call', { name: 'a' })
    expect(answers).toEqual([false, true])
  })

  it('puts messages into the draft and shows context, or refuses by name', async () => {
    const texts: string[] = []
    const host = { draft: (text: string) => void texts.push(text), updateContext: (text: string) => void texts.push(text) }
    const { ask } = open(host)
    expect(await ask('ui/message', { role: 'user', content: { type: 'text', text: 'one' } })).toMatchObject({ result: {} })
    expect(await ask('ui/message', { role: 'user', content: [{ type: 'text', text: 'two' }] })).toMatchObject({ result: {} })
    await ask('ui/update-model-context', { content: [{ type: 'text', text: 'three' }], structuredContent: { n: 4 } })
    expect(texts).toEqual(['one', 'two', 'three\n{"n":4}'])
    const alone = open()
    const refusal = { error: { code: -32601, message: 'This host does not support ui/update-model-context.' } }
    expect(await alone.ask('ui/update-model-context', { content: [] })).toMatchObject(refusal)
    expect(await alone.ask('ui/message', { role: 'user', content: { type: 'text', text: 'x' } })).toMatchObject({ error: { code: -32601 } })
    expect(await alone.ask('ui/open-link', { url: 'https://a.test' })).toMatchObject({ error: { code: -32601 } })
  })

  it('waits for the answer to its teardown', async () => {
    const { session, begin, send, told } = open()
    await session.teardown()
    begin()
    let isOver = false
    void session.teardown().then(() => {
      isOver = true
    })
    await vi.advanceTimersByTimeAsync(0)
    expect([isOver, told()]).toEqual([false, [['ui/resource-teardown', {}]]])
    send({ jsonrpc: '2.0', id: 'teardown', result: {} })
    await vi.advanceTimersByTimeAsync(0)
    expect(isOver).toBe(true)
  })
})

describe('the session of a hostile app', () => {
  it('ends after a flood of messages, before it reads their data', () => {
    const { session, ends } = open()
    let reads = 0
    const event = {
      get data() {
        reads += 1
        return {}
      },
    }
    for (let n = 0; n < 10_000; n += 1) session.receive(event)
    expect([reads, ends]).toEqual([200, ['The app sent too many messages.']])
  })

  it('allows 50 messages per second for ever', () => {
    const { heights, send, ends } = open()
    for (let n = 0; n < 2000; n += 1) {
      send({ jsonrpc: '2.0', method: 'ui/notifications/size-changed', params: { height: n } })
      vi.advanceTimersByTime(20)
    }
    expect([heights.length, ends]).toEqual([2000, []])
  })

  it('ends after a message that is too large', () => {
    const large = 'x'.repeat(1024 * 1024)
    for (const data of [large.concat('y'), { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a', arguments: { large } } }]) {
      const { send, ends, posted } = open()
      send(data)
      expect([ends, posted]).toEqual([['The app sent a message that is too large.'], []])
    }
  })

  it('refuses JSON that is nested too deeply, cyclic or not JSON', async () => {
    let deep: unknown = 1
    for (let n = 0; n < 100_000; n += 1) deep = [deep]
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    const { ask } = open()
    for (const value of [deep, cyclic, new Map(), new Date(), 1n, Number.NaN, () => 1]) {
      expect(await ask('tools/call', { name: 'a', arguments: { value } })).toMatchObject({ error: { code: -32600 } })
    }
  })

  it('ignores what is no message', () => {
    const { send, posted, ends } = open()
    const none = [null, undefined, 1, 'text', [], new Map(), { id: 1, method: 'ping' }, { jsonrpc: '1.0', id: 1, method: 'ping' }]
    const inherited = Object.create({ jsonrpc: '2.0', id: 1, method: 'ping' })
    const odd = [
      { jsonrpc: '2.0', id: {}, method: 'ping' },
      { jsonrpc: '2.0', id: Number.NaN, method: 'ping' },
      { jsonrpc: '2.0', id: 1, result: {} },
    ]
    for (const data of [...none, inherited, ...odd]) send(data)
    expect([posted, ends]).toEqual([[], []])
  })

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'tools/list', 'sampling/createMessage', 'x'.repeat(100_000)])(
    'does not know the method %.30s',
    async (method) => {
      const { ask } = open()
      const { error } = (await ask(method, {})) ?? {}
      expect(error?.code).toBe(-32601)
      expect(error?.message.length).toBeLessThan(300)
    },
  )

  it('refuses invalid parameters', async () => {
    const { ask } = open({ openLink: () => true, draft: () => undefined, updateContext: () => undefined })
    const text = (words: unknown) => ({ role: 'user', content: { type: 'text', text: words } })
    const invalid: [string, unknown][] = [
      ...[
        'javascript:alert(1)',
        'data:text/html,x',
        'file:///etc/passwd',
        'https://user:pass@a.test',
        '/relative',
        'mailto:a@b.test',
        '',
      ].map((url): [string, unknown] => ['ui/open-link', { url }]),
      ['ui/open-link', JSON.parse('{"__proto__":{"url":"https://a.test"}}')],
      ...[{}, { name: '' }, { name: 1 }, { name: 'a', arguments: [] }, { name: 'a', arguments: 'x' }].map((params): [string, unknown] => [
        'tools/call',
        params,
      ]),
      ...[
        text(1),
        text(''),
        text('x'.repeat(20_001)),
        { ...text('x'), role: 'assistant' },
        { role: 'user', content: [{ type: 'image' }] },
      ].map((params): [string, unknown] => ['ui/message', params]),
      ['ui/update-model-context', { structuredContent: { large: 'x'.repeat(20_001) } }],
      ['resources/read', {}],
    ]
    for (const [method, params] of invalid) {
      expect([params, (await ask(method, params))?.error?.code]).toEqual([params, -32602])
    }
  })

  it('opens links only if the user agrees, one at a time', async () => {
    const opened: string[] = []
    let answer: (isOpened: boolean) => void = () => undefined
    const openLink = (url: string) => {
      opened.push(url)
      return new Promise<boolean>((resolve) => {
        answer = resolve
      })
    }
    const { ask, posted } = open({ openLink })
    expect(await ask('ui/open-link', { url: 'https://a.test/x' })).toBeUndefined()
    expect(await ask('ui/open-link', { url: 'https://b.test' })).toMatchObject({
      error: { message: expect.stringContaining('another link') },
    })
    answer(false)
    await vi.advanceTimersByTimeAsync(0)
    expect([opened, posted.at(-1)?.error?.message]).toEqual([['https://a.test/x'], 'The user did not open the link.'])
  })

  it('limits calls at the same time and in all', async () => {
    let running = 0
    let most = 0
    const ends: (() => void)[] = []
    const call = async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise<void>((resolve) => ends.push(resolve))
      running -= 1
      return { content: [] }
    }
    const held = open({}, { call })
    for (let n = 0; n < 20; n += 1) await held.ask('tools/call', { name: 'a' })
    expect([most, held.posted.filter(({ error }) => error?.message.includes('More than 4 calls')).length]).toEqual([4, 16])
    const quick = open()
    for (let n = 0; n < 501; n += 1) {
      await quick.ask('tools/call', { name: 'a' })
      vi.advanceTimersByTime(20)
    }
    expect(quick.posted.map(({ error }) => error?.message).filter((message) => message !== undefined)).toEqual([
      'The app has used its 500 calls.',
    ])
  })

  it('denies without asking after three denials', async () => {
    const asked: string[] = []
    const openLink = (url: string) => {
      asked.push(url)
      return url.includes('good')
    }
    const { ask } = open({ openLink })
    for (const host of ['a', 'good', 'b', 'c', 'good']) await ask('ui/open-link', { url: `https://${host}.test` })
    expect(asked).toEqual(['https://a.test/', 'https://good.test/', 'https://b.test/', 'https://c.test/'])
  })

  it('sends the call again at most ten times', () => {
    const { session, begin, told } = open()
    session.show(done)
    for (let n = 0; n < 100; n += 1) begin()
    expect(told().filter(([method]) => method === 'tool-result')).toHaveLength(10)
  })

  it('limits the messages for the composer', async () => {
    let drafts = 0
    const { ask, posted } = open({ draft: () => void drafts++ })
    for (let n = 0; n < 30; n += 1) await ask('ui/message', { role: 'user', content: { type: 'text', text: 'Buy it.' } })
    expect([drafts, posted.filter(({ error }) => error?.code === -32000).length]).toEqual([20, 10])
  })

  it('stops pending calls at its end, and answers nothing afterwards', async () => {
    let aborted = false
    const call: McpAppServer['call'] = (_name, _args, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          aborted = true
          reject(signal.reason)
        })
      })
    const { session, ask, begin, posted, ends } = open({}, { call })
    begin()
    await ask('tools/call', { name: 'a' })
    session.end()
    session.end('again')
    await ask('ping')
    session.show(done)
    session.setContext({ theme: 'light' })
    await session.teardown()
    expect([aborted, posted, ends]).toEqual([true, [], [undefined]])
  })
})
