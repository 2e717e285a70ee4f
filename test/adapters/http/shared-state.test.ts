import { HttpAgent } from '@ag-ui/client'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { history, page } from '../../../examples/recipes/tools/shared-state-page.ts'
import { type RemoteSession, remoteSession } from '../../../src/client.ts'
import { type JsonObject, memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { sharedState } from '../../../src/session.ts'
import { patient } from '../../support/patience.ts'
import { gate, tool } from '../../support/play.ts'

const board = sharedState({
  schema: {
    type: 'object',
    properties: { title: { type: 'string' }, steps: { type: 'array', items: { type: 'string' } } },
    required: ['steps'],
    additionalProperties: false,
  },
  initial: { steps: [] as string[] },
})
const addStep = tool('add_step', async (_args, ctx) => {
  const { steps } = board.of(ctx).value
  await board.of(ctx).set((state: JsonObject) => ({ ...state, steps: [...steps, `step ${steps.length + 1}`] }))
  return 'added'
})
/** Adds a step for each prompt. */
const model = () =>
  scripted(({ messages }) =>
    messages.at(-1)?.role === 'toolResult' ? { text: 'Done.' } : { toolCalls: [{ name: 'add_step', arguments: {} }] },
  )
const soon = (check: () => void) => vi.waitFor(check, patient)

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const close of closing.splice(0).reverse()) await close()
})

function host(options: object = {}, ofApp: object = {}) {
  const store = memorySessionStore()
  const start = () => {
    const sessions = memoryLiveSessions({
      ...{ store, agent: () => ({ model: model(), tools: [addStep], sharedState: board, ...options }), logger: false },
    })
    closing.push(() => sessions.close())
    return createAgentApp({ sessions, authorize: () => true, ...ofApp })
  }
  let app = start()
  const fetch = async (request: Request): Promise<Response> => app.fetch(request)
  return {
    ...{ store, fetch },
    /** A client of AG-UI, unmodified. */
    page: (state?: JsonObject) =>
      new HttpAgent({
        ...{ url: 'http://localhost/sessions/s/agui', threadId: 's', fetch: (input, init) => fetch(new Request(input, init)) },
        ...(state !== undefined && { initialState: state }),
      }),
    open: (): RemoteSession => {
      const session = remoteSession({ url: 'http://localhost', sessionId: 's', fetch, logger: false })
      closing.push(() => session.close())
      return session
    },
    kill() {
      app = start()
    },
  }
}

const say = async (page: HttpAgent, content = 'go') => {
  page.messages.push({ id: crypto.randomUUID(), role: 'user', content })
  const events: string[] = []
  await page.runAgent({}, { onEvent: ({ event }) => void events.push(event.type) })
  return events.filter((type) => type.startsWith('STATE_'))
}
const shown = ({ state }: HttpAgent): JsonObject => {
  const { $version: _, ...value } = state
  return value
}

describe('shared state with an unmodified AG-UI client', () => {
  it('receives the state and changes made by tools', async () => {
    const page = host().page()
    expect(await say(page)).toEqual(['STATE_SNAPSHOT', 'STATE_DELTA'])
    expect(shown(page)).toEqual({ steps: ['step 1'] })
    expect(await say(page)).toEqual(['STATE_SNAPSHOT', 'STATE_DELTA'])
    expect(shown(page)).toEqual({ steps: ['step 1', 'step 2'] })
  })

  it('changes the state for tools, even across a crash', async () => {
    const server = host()
    const page = server.page({ steps: ['mine'] })
    await say(page)
    expect(shown(page)).toEqual({ steps: ['mine', 'step 2'] })
    page.setState({ ...page.state, title: 'Plan' })
    server.kill()
    await say(page)
    expect(shown(page)).toEqual({ title: 'Plan', steps: ['mine', 'step 2', 'step 3'] })
    // Another tab, that has nothing yet.
    const other = server.page()
    await say(other)
    expect(shown(other)).toEqual({ title: 'Plan', steps: ['mine', 'step 2', 'step 3', 'step 4'] })
    // The first one has an old version, as it was shown: it has changed nothing.
    await say(page)
    expect(shown(page)).toEqual({ title: 'Plan', steps: ['mine', 'step 2', 'step 3', 'step 4', 'step 5'] })
  })

  it.each<[string, (state: JsonObject) => unknown, RegExp]>([
    ['of an outdated version', (state) => ({ ...state, title: 'late' }), /409.*stateConflict/],
    ['without a version', () => ({ steps: ['x'] }), /409.*stateConflict/],
    ['with an invalid version', (state) => ({ ...state, title: 'late', $version: '__proto__' }), /409.*stateConflict/],
  ])('receives a conflict for a change %s', async (_name, change, told) => {
    const server = host()
    const [page, other] = [server.page(), server.page()]
    await say(page)
    await say(other)
    const kept = structuredClone(page.messages)
    // The client prints why it failed.
    vi.spyOn(console, 'error').mockImplementation(() => undefined)
    page.setState(change(page.state))
    await expect(say(page)).rejects.toThrow(told)
    // Nothing was said, and nothing changed.
    page.setMessages(kept)
    page.setState({})
    await say(page)
    expect(shown(page)).toEqual({ steps: ['step 1', 'step 2', 'step 3'] })
  })

  it.each<[string, unknown, RegExp]>([
    ['does not fit the schema', { steps: [1] }, /400.*invalidState.*steps\[0\]/],
    ['is over the size limit', { steps: ['x'.repeat(300_000)] }, /400.*invalidState/],
    ['is not an object', ['x'], /400.*invalidBody/],
    ['is a string', 'x', /400.*invalidBody/],
    ['contains __proto__', JSON.parse('{"steps":[],"__proto__":{"polluted":true}}'), /400/],
    ['is deeply nested', JSON.parse(`${'{"a":'.repeat(1000)}1${'}'.repeat(1000)}`), /400.*invalidBody/],
    ['is huge', { steps: ['x'.repeat(5 * 1024 * 1024)] }, /400.*invalidBody/],
    ['exceeds the body limit', { steps: ['x'.repeat(100 * 1024 * 1024)] }, /413.*bodyTooLarge/],
  ])('receives an error for a state that %s', async (_name, state, told) => {
    const { fetch } = host()
    const body = { threadId: 's', runId: 'r', messages: [{ id: 'm1', role: 'user', content: 'go' }], tools: [], context: [], state }
    const headers = { 'content-type': 'application/json' }
    const request = new Request('http://localhost/sessions/s/agui', { method: 'POST', headers, body: JSON.stringify(body) })
    const response = await fetch(request)
    expect(`${response.status} ${await response.text()}`).toMatch(told)
    expect(({} as { polluted?: true }).polluted).toBeUndefined()
  })

  it('keeps its own state if the agent shares none', async () => {
    const page = host({ sharedState: undefined, tools: [] }).page({ own: 1 })
    await say(page).catch(() => undefined)
    expect(page.state).toEqual({ own: 1 })
  })
})

describe('shared state with a phi client', () => {
  it('runs the documented shared-state example', async () => {
    const server = host()
    const session = server.open()
    await session.prompt('go').result
    const shown: string[] = []
    await page(session, (text) => shown.push(text))
    expect(shown).toEqual(['1: {"steps":["step 1"]}', '2: {"steps":["step 1"],"title":"Bread"}'])
    expect(await history(server.store, 's')).toEqual([
      '0, by the application: {"steps":[]}',
      '1, by the tool: {"steps":["step 1"]}',
      '2, by the client: {"steps":["step 1"],"title":"Bread"}',
    ])
  })

  it('reads and changes the state and receives changes by others', async () => {
    const server = host()
    const [a, b] = [server.open(), server.open()]
    await expect(a.sharedState.read()).rejects.toMatchObject({ code: 'notFound' })
    await a.prompt('go').result
    const heard: number[] = []
    b.sharedState.subscribe(({ version }) => heard.push(version))
    expect(await b.sharedState.read()).toEqual({ version: 1, value: { steps: ['step 1'] } })
    expect(await a.sharedState.set({ title: 'Plan', steps: [] })).toMatchObject({ version: 2 })
    // Also while no run is on.
    await soon(() => expect(b.sharedState.current).toEqual({ version: 2, value: { title: 'Plan', steps: [] } }))
    await a.prompt('go').result
    await soon(() => expect(b.sharedState.current).toEqual({ version: 3, value: { title: 'Plan', steps: ['step 1'] } }))
    expect(heard[0]).toBe(1)
    expect(heard.at(-1)).toBe(3)
    server.kill()
    expect(await server.open().sharedState.read()).toEqual({ version: 3, value: { title: 'Plan', steps: ['step 1'] } })
  })

  it('receives changes made while disconnected', async () => {
    const server = host()
    const [a, b] = [server.open(), server.open()]
    await a.prompt('go').result
    await b.sharedState.read()
    await a.sharedState.set({ steps: ['while nobody listened'] })
    const heard: number[] = []
    const stop = b.sharedState.subscribe(({ version }) => heard.push(version))
    await soon(() => expect(heard).toEqual([2]))
    stop()
    await a.sharedState.set({ steps: ['once more'] })
    b.sharedState.subscribe(({ version }) => heard.push(version))
    await soon(() => expect(heard).toEqual([2, 3]))
  })

  it('skips to the newest change for a slow reader', async () => {
    const server = host({}, { pingMs: 20 })
    const session = server.open()
    await session.prompt('go').result
    const stream = await server.fetch(new Request('http://localhost/sessions/s/events'))
    for (let at = 0; at < 200; at++) await session.sharedState.set({ steps: [String(at)] })
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (!text.includes('"version":201')) text += (await reader?.read())?.value ?? 'over "version":201'
    await reader?.cancel()
    expect(text).toMatch(/^event: sharedState\ndata: \{"version":\d+\}\n\n/)
    expect(text.split('event: sharedState').length - 1).toBeLessThan(20)
  })

  it('receives the current state after its own change conflicts', async () => {
    const server = host()
    const [a, b] = [server.open(), server.open()]
    await a.prompt('go').result
    await b.sharedState.read()
    await a.sharedState.patch([{ op: 'add', path: '/title', value: 'A' }])
    await expect(b.sharedState.set({ steps: [] })).rejects.toMatchObject({ code: 'stateConflict' })
    expect(b.sharedState.current).toEqual({ version: 2, value: { title: 'A', steps: ['step 1'] } })
    expect(await b.sharedState.patch([{ op: 'add', path: '/title', value: 'B' }])).toMatchObject({ version: 3, value: { title: 'B' } })
    await expect(b.sharedState.patch([{ op: 'remove', path: '/nothing' }])).rejects.toMatchObject({ code: 'invalidState' })
  })

  it('changes the state during a run so that the tool sees it', async () => {
    const [begun, go] = [gate(), gate()]
    const slow = tool('add_step', async (args, ctx) => {
      begun.open()
      await go.opened
      return addStep.execute(args, ctx)
    })
    const server = host({ tools: [slow] })
    const session = server.open()
    const run = session.prompt('go')
    await begun.opened
    await session.sharedState.set({ steps: ['from the page'] })
    go.open()
    await run.result
    await soon(() => expect(session.sharedState.current?.version).toBe(1))
    expect(await session.sharedState.read()).toEqual({ version: 2, value: { steps: ['from the page', 'step 2'] } })
  })

  it('reloads the state after the session is deleted, despite a lower version', async () => {
    const server = host()
    const [session, other] = [server.open(), server.open()]
    const seen: number[] = []
    session.sharedState.subscribe(({ version }) => seen.push(version))
    await session.prompt('go').result
    await session.sharedState.read()
    await session.sharedState.set({ steps: ['a', 'b'] })
    await server.fetch(new Request('http://localhost/sessions/s', { method: 'DELETE' }))
    await other.prompt('go').result
    expect(await session.sharedState.read()).toEqual({ version: 1, value: { steps: ['step 1'] } })
    expect(await session.sharedState.set({ steps: ['mine'] })).toEqual({ version: 2, value: { steps: ['mine'] } })
    expect(seen.slice(-2)).toEqual([1, 2])
  })

  it('applies a change once despite lost responses and throwing listeners', async () => {
    const server = host()
    let lost = 0
    const warnings: string[] = []
    const session = remoteSession({
      ...{ url: 'http://localhost', sessionId: 's', logger: { warn: (event) => warnings.push(event) } },
      reconnect: { initialDelayMs: 1, maxDelayMs: 2 },
      fetch: async (request) => {
        const answer = await server.fetch(request)
        if (request.method === 'POST' && request.url.endsWith('/state') && lost++ % 3 < 2) throw new TypeError('The connection was reset.')
        return answer
      },
    })
    closing.push(() => session.close())
    await session.prompt('go').result
    session.sharedState.subscribe(() => {
      throw new Error('of the page')
    })
    expect(await session.sharedState.set({ steps: ['a'] })).toEqual({ version: 2, value: { steps: ['a'] } })
    expect(await session.sharedState.patch([{ op: 'add', path: '/steps/-', value: 'b' }])).toEqual({
      version: 3,
      value: { steps: ['a', 'b'] },
    })
    expect([lost, warnings.includes('stateFailed')]).toEqual([6, true])
  })
})
