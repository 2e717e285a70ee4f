import { describe, expect, it, vi } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import type { MemoryLiveSessionsOptions } from '../../../adapters/http/live/memory/memory-options.ts'
import { Agent, defineTool, memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { EventRecorder } from '../../../src/rust.ts'
import { patient } from '../../support/patience.ts'
import { allFrames, type Frame, frames } from './read-sse.ts'

/** A gate that is closed until it is opened. */
function gate() {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

/** Sessions of a model that says `one `, and the rest when the gate is open. */
function hosted(options: Partial<MemoryLiveSessionsOptions> = {}, replayBytes?: number) {
  const { open, opened } = gate()
  let pieces = 0
  const model = scripted(() => ({ text: ['one ', 'two ', 'three'] }), { gate: () => (pieces++ === 0 ? Promise.resolve() : opened) })
  const agent = () => ({ model, ...(replayBytes !== undefined && { replayBytes }) })
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent, ...options })
  const app = createAgentApp({ sessions, authorize: (c) => c.req.header('authorization') ?? false })
  const ask = async (path: string, init: RequestInit = {}) =>
    app.request(`/sessions${path}`, { ...init, headers: { authorization: 'me', ...Object(init.headers) } })
  const post = (path: string, body: object = { prompt: 'hi' }, user = 'me') =>
    ask(path, { method: 'POST', headers: { authorization: user, 'content-type': 'application/json' }, body: JSON.stringify(body) })
  return { open, ask, post, sessions }
}

async function readOne(response: Response): Promise<Frame> {
  for await (const frame of frames(response)) if (frame.event === 'messageUpdate') return frame
  throw new Error('No delta came.')
}

const textOf = (seen: Frame[]): string => seen.map(({ event, data }) => (event === 'messageUpdate' ? data.delta.delta : '')).join('')

it("logs nothing if the client receives the run's failure", async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  try {
    const model = scripted([{ fail: { code: 'auth', message: 'The key of this session is wrong.' } }])
    const { post } = hosted({ agent: () => ({ model }) })
    expect((await allFrames(await post('/s/runs'))).at(-1)?.data.status).toBe('error')
    expect(warn.mock.calls).toEqual([])
  } finally {
    warn.mockRestore()
  }
})

describe('run event streams', () => {
  it('resumes after the cursor while the run ignores the disconnect', async () => {
    const { open, ask, post } = hosted()
    const { id = 0, data } = await readOne(await post('/s/runs'))
    const path = `/s/runs/${data.loopId}/events`
    const both = [await ask(path, { headers: { 'last-event-id': `${id}` } }), await ask(`${path}?after=${id}`), await ask(path)]
    open()
    const [byHeader = [], byQuery = [], all = []] = await Promise.all(both.map(allFrames))
    expect([textOf(byHeader), textOf(all)]).toEqual(['two three', 'one two three'])
    expect([byHeader[0]?.id, all[0]?.id, byQuery]).toEqual([id + 1, 1, byHeader])
    expect(all.at(-1)?.data.status).toBe('completed')
  })

  it('responds with a problem document if there is nothing to read', async () => {
    const { open, ask, post } = hosted({}, 1)
    const { data } = await readOne(await post('/s/runs'))
    open()
    const path = `/s/runs/${data.loopId}/events`
    await allFrames(await ask(path))
    const cases: [string, number, object][] = [
      ['/s/runs/unknown/events', 404, { code: 'notFound' }],
      [`${path}?after=-1`, 400, { code: 'invalidCursor' }],
      [`${path}?after=1e3`, 400, { code: 'invalidCursor' }],
      [`${path}?after=1`, 410, { code: 'cursorExpired' }],
      [`/s/events?after=abc`, 400, { code: 'invalidCursor', detail: expect.stringContaining('"abc"') }],
      [`/s/events?after=1`, 400, { code: 'invalidCursor', detail: expect.stringContaining('loopId') }],
      [`/s/events?after=abc&loopId=${data.loopId}`, 400, { code: 'invalidCursor' }],
    ]
    for (const [url, status, body] of cases) {
      const response = await ask(url)
      expect([url, response.status, await response.json()]).toMatchObject([url, status, body])
    }
  })

  it('responds with 410 and the resumed loop after a restart', async () => {
    const store = memorySessionStore()
    const before = hosted({ store })
    const { id, data } = await readOne(await before.post('/s/runs'))
    // The process ends without a word: nobody calls close.
    const after = hosted({ store })
    expect(await after.sessions.recover({ callers: [{ identity: 'me' }] })).toBe(1)
    const gone = await after.ask(`/s/runs/${data.loopId}/events?after=${id}`)
    const problem = await gone.json()
    expect([gone.status, problem.code]).toEqual([410, 'gone'])
    after.open()
    expect(textOf(await allFrames(await after.ask(`/s/runs/${problem.continuedBy}/events`)))).toBe('one two three')
    const { session } = await (await after.ask('/s')).json()
    expect(session.loops.map(({ status }: { status: string }) => status)).toEqual(['interrupted', 'completed'])
    before.open()
  })
})

describe('reading a stored session', () => {
  const secret = 'the secret recipe'

  /** A session whose model was sent a secret, and whose tool ran an agent that was sent it too; as it is answered with. */
  async function answered(query: string, turnRequests: boolean): Promise<string> {
    const store = memorySessionStore()
    const agent = new Agent({ model: scripted(() => ({ text: 'hello' })), systemPrompt: secret, captureTurnRequests: true, sessionId: 's' })
    const recorder = new EventRecorder({ captureTurnRequests: true })
    agent.subscribe((event) => {
      recorder.accept(event)
      const { runId, seq, at, sessionId, loopId } = event
      const within = { type: 'childEvent' as const, toolCallId: 'call', toolName: 'ask', event }
      if (event.type === 'turnRequest')
        recorder.sessions()[0]?.loops[0]?.events.push({ sequence: 99, event: { runId, seq, at, sessionId, loopId, ...within } })
    })
    await agent.prompt('hi').result
    for (const session of recorder.checkpoint()) await store.save(session)
    const sessions = memoryLiveSessions({ store, agent: () => ({ model: scripted([]) }) })
    const app = createAgentApp({ sessions, authorize: () => true, turnRequests })
    const text = await (await app.request(`/sessions/s${query}`)).text()
    await sessions.close()
    return text
  }

  it('includes its events but no model requests', async () => {
    const text = await answered('', false)
    expect([text.includes('"type":"agentEnd"'), text.includes('childEvent'), text.includes(secret)]).toEqual([true, false, false])
  })

  it('includes model requests if the server exposes them', async () => {
    const { session } = JSON.parse(await answered('', true))
    const [loop] = session.loops
    expect(JSON.stringify(loop.turns[0].requestPayload).includes(secret)).toBe(true)
    expect(loop.events.map(({ event }: { event: { type: string } }) => event.type)).toEqual(
      expect.arrayContaining(['turnRequest', 'childEvent']),
    )
  })

  it('omits events and model requests on request', async () => {
    const text = await answered('?events=false', true)
    expect([text.includes('hello'), text.includes('"events":[]'), text.includes(secret)]).toEqual([true, true, false])
  })
})

describe('listing sessions', () => {
  it('rejects an unknown cursor with a problem document', async () => {
    const { ask } = hosted()
    for (const cursor of ['', 'x', '%00%ff', '1e9/s', '1/../s']) {
      const response = await ask(`?cursor=${cursor}`)
      expect([cursor, response.status, await response.json()]).toMatchObject([cursor, 400, { code: 'invalidCursor' }])
    }
  })
})

describe('sessions in memory', () => {
  it('unloads an idle session and reloads it from the store', async () => {
    vi.useFakeTimers()
    try {
      const agent = vi.fn(() => ({ model: scripted(() => ({ text: 'hello' })) }))
      const { post, sessions } = hosted({ agent, idleMs: 1000 })
      await allFrames(await post('/s/runs'))
      await vi.advanceTimersByTimeAsync(2500)
      expect(vi.getTimerCount()).toBe(0)
      await allFrames(await post('/s/runs'))
      expect(agent).toHaveBeenCalledTimes(2)
      await sessions.close()
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('releases its agent when idle and continues with a new one', async () => {
    vi.useFakeTimers()
    try {
      const agent = vi.fn(() => ({ model: scripted(() => ({ text: 'hello' })) }))
      const { ask, post, sessions } = hosted({ agent, restMs: 1000 })
      const loopIds: string[] = []
      for (let run = 1; run <= 3; run++) {
        const frames = await allFrames(await post('/s/runs'))
        loopIds.push(frames[0]?.data.loopId)
        const events = () => ask(`/s/runs/${loopIds.at(-1)}/events`)
        expect((await allFrames(await events())).length).toBe(frames.length)
        await vi.advanceTimersByTimeAsync(2500)
        expect([sessions.figures?.().sessions, agent.mock.calls.length]).toEqual([1, run])
        expect(await (await events()).json()).toMatchObject({ status: 410, code: 'gone', loopId: loopIds.at(-1) })
        const { messages, loopId } = await (await ask('/s/history')).json()
        expect([messages.length, loopId]).toEqual([2 * run, loopIds.at(-1)])
      }
      expect(new Set(loopIds).size).toBe(3)
      await sessions.close()
    } finally {
      vi.useRealTimers()
    }
  })

  it('keeps a session in memory during a run of any length', async () => {
    vi.useFakeTimers()
    try {
      const { open, ask, post, sessions } = hosted({ idleMs: 1000 })
      const { data } = await readOne(await post('/s/runs'))
      await vi.advanceTimersByTimeAsync(60_000)
      const rest = await ask(`/s/runs/${data.loopId}/events`)
      open()
      expect(textOf(await allFrames(rest))).toBe('one two three')
      await sessions.close()
    } finally {
      vi.useRealTimers()
    }
  })

  it('evicts the longest idle session and rejects new ones if all are running', async () => {
    const { open, post, sessions } = hosted({ maxSessions: 1 })
    const { data } = await readOne(await post('/a/runs'))
    const refused = await post('/b/runs')
    expect([refused.status, await refused.json()]).toMatchObject([503, { code: 'tooManySessions' }])
    open()
    await vi.waitFor(async () => expect(textOf(await allFrames(await post('/b/runs')))).toBe('one two three'), patient)
    expect(data.loopId.startsWith('a.')).toBe(true)
    await sessions.close()
  })

  it('limits the open runs per user', async () => {
    const { post, sessions } = hosted({ maxOpenRuns: 1 })
    await readOne(await post('/a/runs'))
    expect(await (await post('/b/runs')).json()).toMatchObject({ status: 429, code: 'tooManyRuns' })
    expect((await post('/b/runs', undefined, 'you')).status).toBe(200)
    await post('/a/stop', {})
    expect((await post('/b/runs')).status).toBe(200)
    await sessions.close()
  })

  it('resumes with pending approvals, even after a restart', async () => {
    const store = memorySessionStore()
    const sent: string[] = []
    const tool = defineTool({
      name: 'send',
      label: 'Send',
      description: 'Sends.',
      parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
      needsApproval: true,
      execute: ({ to }) => {
        sent.push(String(to))
        return 'sent'
      },
    })
    const model = scripted(({ messages }) =>
      messages.some(({ role }) => role === 'toolResult') ? { text: 'Done.' } : { toolCalls: [{ name: 'send', arguments: { to: 'ada' } }] },
    )
    const agent = () => ({ model, tools: [tool], approvalTimeoutMs: 1 })
    const first = hosted({ store, agent })
    const seen = await allFrames(await first.post('/s/runs'))
    expect(seen.at(-1)?.data.status).toBe('paused')
    await first.sessions.close()
    const second = hosted({ store, agent: () => ({ model, tools: [tool] }) })
    const { approvals } = await (await second.ask('/s/approvals')).json()
    const { toolCallId, argumentsHash } = approvals[0]
    const { loopId } = await (await second.post(`/s/approvals/${toolCallId}`, { approved: true, argumentsHash })).json()
    expect(textOf(await allFrames(await second.ask(`/s/runs/${loopId}/events`)))).toBe('Done.')
    expect(sent).toEqual(['ada'])
  })
})
