import { HttpAgent } from '@ag-ui/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import type { MemoryLiveSessionsOptions } from '../../../adapters/http/live/memory/memory-options.ts'
import type { WaitingNotice } from '../../../adapters/http/notices/session-notices.ts'
import { type RemoteSession, remoteSession } from '../../../src/client.ts'
import { type InferTools, memorySessionStore, textOf } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../src/tools.ts'
import { type PageChat, pageChats } from '../../support/ai-sdk-versions.ts'
import { patient } from '../../support/patience.ts'
import { gate, seen, tool } from '../../support/play.ts'

const setTheme = clientTool<{ theme: string }, 'set_theme', { applied: string }>({
  name: 'set_theme',
  description: 'Sets the colours of the page.',
  parameters: { type: 'object', properties: { theme: { type: 'string' } }, required: ['theme'] },
})
const slow = tool('look_up', async () => 'found')
type Tools = InferTools<[typeof setTheme]>

/** Asks the page, then says what came of it. */
const model = () =>
  scripted(({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'toolResult') return { text: `The page says: ${textOf(last.content)}` }
    return { toolCalls: [{ name: 'set_theme', arguments: { theme: 'dark' } }] }
  })

const soon = (check: () => void) => vi.waitFor(check, patient)

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

function host(options: Partial<MemoryLiveSessionsOptions> = {}) {
  const store = memorySessionStore()
  const start = () => {
    const sessions = memoryLiveSessions({ store, agent: () => ({ model: model(), tools: [setTheme, slow] }), logger: false, ...options })
    closing.push(() => sessions.close())
    return { sessions, app: createAgentApp({ sessions, authorize: () => true }) }
  }
  let current = start()
  let cut = new AbortController()
  const fetch = async (request: Request): Promise<Response> => {
    const { signal } = cut
    signal.throwIfAborted()
    const response = await current.app.fetch(request)
    // Whoever reads from a process that is killed gets an error, and nothing more.
    return new Response(response.body?.pipeThrough(new TransformStream(), { signal }) ?? null, response)
  }
  const open = (clientId?: string): RemoteSession => {
    // As often as it takes: a page asks again until the process that goes on has recorded that.
    const reconnect = { initialDelayMs: 1, maxDelayMs: 5, maxRetries: 10_000 }
    const session = remoteSession({
      ...{ url: 'http://localhost', sessionId: 's', fetch, logger: false, reconnect },
      ...(clientId !== undefined && { clientId }),
    })
    closing.push(() => session.close())
    return session
  }
  return {
    ...{ store, fetch, open },
    /** The old process says nothing more, a new one goes on over the same store. */
    kill() {
      cut.abort(new Error('killed'))
      cut = new AbortController()
      current = start()
      void current.sessions.recover()
    },
  }
}

describe('client tools of an HTTP session', () => {
  it('runs the tool with typed arguments', async () => {
    const session = host().open()
    session.tools<Tools>({ set_theme: ({ theme }) => ({ applied: theme }) })
    expect(await session.prompt('go').text()).toBe('The page says: {"applied":"dark"}')
  })

  it('runs the tool once although two tabs are open', async () => {
    const { open } = host()
    const ran: string[] = []
    const [a, b] = [open(), open()]
    for (const [name, tab] of [
      ['a', a],
      ['b', b],
    ] as const) {
      tab.tools({
        set_theme: async () => {
          ran.push(name)
          await new Promise((resolve) => setTimeout(resolve, 20))
          return 'done'
        },
      })
    }
    expect(await a.prompt('go').text()).toBe('The page says: done')
    expect(ran).toHaveLength(1)
  })

  it('runs the tool in a reloaded tab that still holds the claim', async () => {
    const { open } = host()
    const [hanging, first] = [gate(), open('tab-1-unguessable')]
    first.tools({ set_theme: () => hanging.opened.then(() => 'never') })
    const run = first.prompt('go')
    await seen(run, 'clientCallRequested')
    await soon(() => expect(run.pendingClientCalls()).toHaveLength(1))
    first.close()
    const again = open('tab-1-unguessable')
    await again.load()
    again.tools({ set_theme: () => 'light' })
    await again.currentRun?.result
    await soon(() => expect(again.messages.at(-1)).toMatchObject({ role: 'assistant', content: [{ text: 'The page says: light' }] }))
  })

  it('runs a tool that was registered before the session is loaded', async () => {
    const { open } = host()
    const first = open()
    await seen(first.prompt('go'), 'clientCallRequested')
    first.close()
    const again = open()
    again.tools({ set_theme: () => 'light' })
    await again.load()
    await soon(() => expect(again.messages.at(-1)).toMatchObject({ role: 'assistant', content: [{ text: 'The page says: light' }] }))
  })

  it('runs the tool in another tab after the claim of a closed tab expires', async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true })
    closing.push(() => void vi.useRealTimers())
    const { open } = host()
    const [begun, ran] = [gate(), [] as string[]]
    const [a, b] = [open(), open()]
    const run = a.prompt('go')
    a.tools({
      set_theme: () => {
        ran.push('a')
        begun.open()
        return new Promise(() => undefined)
      },
    })
    await begun.opened
    await b.load()
    b.tools({
      set_theme: () => {
        ran.push('b')
        return 'from the other tab'
      },
    })
    await soon(() => expect(b.pendingClientCalls()).toHaveLength(1))
    await vi.advanceTimersByTimeAsync(60_000)
    // As long as it is there it holds the call.
    expect(ran).toEqual(['a'])
    a.close()
    await vi.advanceTimersByTimeAsync(80_000)
    await soon(() => expect(b.messages.at(-1)).toMatchObject({ content: [{ text: 'The page says: from the other tab' }] }))
    expect(ran).toEqual(['a', 'b'])
    await run.result
  })

  it('rejects a 10 MB result and waits for a smaller one', async () => {
    const { open, fetch } = host()
    const session = open()
    const run = session.prompt('go')
    await seen(run, 'clientCallRequested')
    await soon(() => expect(run.pendingClientCalls()).toHaveLength(1))
    const [{ toolCallId, argumentsHash } = { toolCallId: '', argumentsHash: '' }] = run.pendingClientCalls()
    const tell = async (output: unknown, text = JSON.stringify(output)) => {
      const body = `{"argumentsHash":"${argumentsHash}","output":${text}}`
      const headers = { 'content-type': 'application/json' }
      const url = `http://localhost/sessions/s/client-calls/${encodeURIComponent(toolCallId)}`
      const response = await fetch(new Request(url, { method: 'POST', headers, body }))
      return `${response.status} ${(await response.json()).code ?? 'taken'}`
    }
    expect(await tell('x'.repeat(10_000_000))).toBe('400 invalidBody')
    expect(await tell({ content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(10_000_000) }] })).toBe('400 invalidBody')
    expect(await tell({ content: Array.from({ length: 1000 }, () => ({ type: 'text', text: 'x' })) })).toBe('400 invalidBody')
    expect(await tell(undefined, `${'['.repeat(5000)}${']'.repeat(5000)}`)).toBe('400 invalidBody')
    expect(await tell('dark')).toBe('202 taken')
    expect(await run.text()).toBe('The page says: dark')
  })

  it('runs the tool once across a server crash and accepts its result', async () => {
    const server = host()
    const [a, b] = [server.open(), server.open()]
    const [begun, done] = [gate(), gate()]
    let ran = 0
    for (const tab of [a, b])
      tab.tools({
        set_theme: async () => {
          ran += 1
          begun.open()
          await done.opened
          return 'dark'
        },
      })
    const run = a.prompt('go')
    await begun.opened
    server.kill()
    await soon(() => expect(a.pendingClientCalls()).toHaveLength(1))
    done.open()
    expect((await run.result).text).toBe('The page says: dark')
    expect(ran).toBe(1)
  })

  it('keeps the claim with the same tab after a server crash', async () => {
    const server = host()
    const [a, b] = [server.open('tab-a-unguessable'), server.open('tab-b-unguessable')]
    const [begun, done] = [gate(), gate()]
    const ran: string[] = []
    const run = a.prompt('go')
    a.tools({
      set_theme: async () => {
        ran.push('a')
        begun.open()
        await done.opened
        return 'dark'
      },
    })
    await begun.opened
    a.close()
    server.kill()
    await b.load()
    b.tools({
      set_theme: () => {
        ran.push('b')
        return 'light'
      },
    })
    await soon(() => expect(b.pendingClientCalls()).toHaveLength(1))
    const [pending] = b.pendingClientCalls()
    if (pending === undefined) throw new Error('Nothing waits.')
    expect(await b.claimCall(pending, 'tab-b-unguessable')).toBe(false)
    await expect(b.answerCall(pending, { output: 'theft' }, 'tab-b-unguessable')).rejects.toMatchObject({ code: 'claimedElsewhere' })
    // The one that had it comes back.
    const again = server.open('tab-a-unguessable')
    expect(await again.claimCall(pending, 'tab-a-unguessable')).toBe(true)
    await again.answerCall(pending, { output: 'dark' }, 'tab-a-unguessable')
    await soon(() => expect(b.messages.at(-1)).toMatchObject({ role: 'assistant', content: [{ text: 'The page says: dark' }] }))
    expect(ran).toEqual(['a'])
    // Nobody reads in the log what holds a claim.
    expect(JSON.stringify((await server.store.tail('s')).records)).not.toContain('unguessable')
    await run.result
  })

  it("keeps the call's deadline across a server restart", async () => {
    const timed = { ...setTheme, timeoutMs: 60_000 }
    const server = host({ agent: () => ({ model: model(), tools: [timed] }) })
    const session = server.open()
    await seen(session.prompt('go'), 'clientCallRequested')
    await soon(() => expect(session.pendingClientCalls()).toHaveLength(1))
    const [{ deadline } = {}] = session.pendingClientCalls()
    expect(deadline).toBeGreaterThan(Date.now())
    session.close()
    // So that a new end would be another one.
    await soon(() => expect(Date.now() + 60_000).toBeGreaterThan((deadline ?? 0) + 5))
    server.kill()
    const again = server.open()
    again.subscribe(() => undefined)
    await again.load()
    await soon(() => expect(again.pendingClientCalls()).toMatchObject([{ deadline }]))
    again.tools({ set_theme: () => 'dark' })
    await soon(() => expect(again.messages.at(-1)).toMatchObject({ role: 'assistant', content: [{ text: 'The page says: dark' }] }))
  })

  it('resends a result that the crashed server had not recorded', async () => {
    const server = host()
    const session = server.open()
    let ran = 0
    session.tools({
      set_theme: () => {
        ran += 1
        // Before its result arrives.
        server.kill()
        return 'dark'
      },
    })
    expect((await session.prompt('go').result).text).toBe('The page says: dark')
    expect(ran).toBe(1)
  })

  it('runs client-defined tools, even across a crash', async () => {
    const script = () =>
      scripted(({ messages, tools }) => {
        const last = messages.at(-1)
        if (last?.role === 'toolResult') return { text: textOf(last.content) }
        return { toolCalls: tools.map(({ name }) => ({ name, arguments: {} })) }
      })
    const server = host({ agent: () => ({ model: script(), choices: { clientTools: ['locate'] } }) })
    const session = server.open()
    const parameters = { type: 'object', properties: {} }
    session.tools({
      locate: {
        ...{ description: 'Where the page is.', parameters },
        run: () => {
          server.kill()
          return { city: 'Oslo' }
        },
      },
    })
    expect((await session.prompt('go').result).text).toBe('{"city":"Oslo"}')
  })

  it('tells the model that the tool ran if the server rejects its result', async () => {
    const session = host().open()
    session.tools({ set_theme: () => 'x'.repeat(300_000) })
    expect(await session.prompt('go').text()).toMatch(/^The page says: The tool ran, but its result cannot be shown: .*allows 262144/)
  })

  it('resumes a paused run', async () => {
    const { open } = host({ agent: () => ({ model: model(), tools: [setTheme], approvalTimeoutMs: 20 }) })
    const session = open()
    expect((await session.prompt('go').result).status).toBe('paused')
    expect(session.pendingClientCalls()).toHaveLength(1)
    const again = open()
    await again.load()
    expect(again.pendingClientCalls()).toHaveLength(1)
    again.tools({ set_theme: () => 'late' })
    await soon(() => expect(again.messages.at(-1)).toMatchObject({ role: 'assistant', content: [{ text: 'The page says: late' }] }))
  })

  it('notifies the application of pending calls without a client', async () => {
    const told: WaitingNotice[] = []
    const { fetch } = host({ onWaiting: (notice) => void told.push(notice) })
    const headers = { 'content-type': 'application/json' }
    const begun = await fetch(new Request('http://localhost/sessions/s/runs', { method: 'POST', headers, body: '{"prompt":"go"}' }))
    await begun.body?.cancel()
    await soon(() => expect(told).toMatchObject([{ approvals: [], clientCalls: [{ toolName: 'set_theme' }] }]))
  })

  it.each<[string, object]>([
    ['no function', { set_theme: 1 }],
    ['no run function', { set_theme: { description: 'x', parameters: {} } }],
    ['a duplicate name', { other: () => 1 }],
  ])('rejects a handler with %s', (_name, handlers) => {
    const session = host().open()
    session.tools({ other: () => 1 })
    expect(() => session.tools(handlers as never)).toThrow(expect.objectContaining({ code: 'invalidOption' }))
  })
})

describe.each([5, 6, 7] as const)('useChat of AI SDK %d, unmodified', (version) => {
  const chatOf = (fetch: (request: Request) => Promise<Response>, outputs: string[]): PageChat =>
    new pageChats[version]({
      api: 'http://localhost/chat',
      id: 's',
      fetch: async (input, init) => fetch(new Request(input, init)),
      run: (input) => {
        outputs.push(JSON.stringify(input))
        return 'dark'
      },
    })
  const textIn = (chat: PageChat) => (chat.messages.at(-1)?.parts ?? []).map(({ text }) => text ?? '').join('')

  it('runs onToolCall and sends the result', async () => {
    const asked: string[] = []
    const chat = chatOf(host().fetch, asked)
    await chat.sendMessage({ text: 'go' })
    await soon(() => expect([chat.error, chat.status, textIn(chat)]).toEqual([undefined, 'ready', 'The page says: dark']))
    expect(asked).toEqual(['{"theme":"dark"}'])
  })

  it('repeats the call after a reload interrupts it', async () => {
    const { fetch, open } = host()
    const session = open()
    await seen(session.prompt('go'), 'clientCallRequested')
    const asked: string[] = []
    const chat = chatOf(fetch, asked)
    chat.messages = (await (await fetch(new Request('http://localhost/chat/s'))).json()).messages
    await chat.resumeStream()
    await soon(() => expect([chat.error, chat.status, textIn(chat)]).toEqual([undefined, 'ready', 'The page says: dark']))
    expect(asked).toEqual(['{"theme":"dark"}'])
  })
})

it('runs the tools of an unmodified AG-UI client', async () => {
  const choices = { clientTools: ['set_theme'] }
  const { fetch } = host({ agent: () => ({ model: model(), choices }) })
  const agent = new HttpAgent({ url: 'http://localhost/agui', threadId: 's', fetch: (input, init) => fetch(new Request(input, init)) })
  agent.addMessage({ id: 'u1', role: 'user', content: 'go' })
  const { name, description } = setTheme
  const tools = [{ name, description, parameters: { type: 'object', properties: { theme: { type: 'string' } } } }]
  await agent.runAgent({ tools })
  const call = agent.messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : [])).at(-1)
  expect(call?.function).toEqual({ name: 'set_theme', arguments: '{"theme":"dark"}' })
  agent.addMessage({ id: 't1', role: 'tool', toolCallId: call?.id ?? '', content: 'dark' })
  await agent.runAgent({ tools })
  expect(agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'The page says: dark' })
})
