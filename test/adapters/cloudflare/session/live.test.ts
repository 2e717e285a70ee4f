import { afterAll, describe, expect, it } from 'vitest'
import { type Usage, userMessage } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import type { NewSessionRecord } from '../../../../src/types/session/session-store.ts'
import { patient } from '../../../support/patience.ts'
import { startWorker } from '../../../workers/test-harness.ts'
import { allFrames } from '../../http/read-sse.ts'
import { LiveClient, readUntil, textIn } from './live-client.ts'

const worker = await startWorker({
  main: 'test/workers/live-worker.ts',
  objects: { SESSIONS: 'Conversation', INDEX: 'IndexObject', FEW: 'FewConversations' },
})
afterAll(() => worker.close())

/** The records of a run up to its input. */
function begun(sessionId: string): NewSessionRecord[] {
  const { name, provider, api, baseUrl, reasoning, contextWindow, maxTokens } = scripted([]).config
  const snapshot = { model: 'scripted', name, provider, api, baseUrl, reasoning, contextWindow, maxTokens, thinkingLevel: 'off' as const }
  return [
    { entry: { type: 'sessionStart', agentId: 'a', formation: { type: 'firstLoop', at: 1 }, scope: 'persistent' } },
    { loopId: 'l1', entry: { type: 'loopStart', continuationKind: { kind: 'initial' }, config: snapshot } },
    { loopId: 'l1', entry: { type: 'input', message: { ...userMessage(`Hi, ${sessionId}.`), id: 'm1' } } },
  ]
}

/** The record of an answer. */
function answer(usage: Usage): NewSessionRecord {
  const message = {
    role: 'assistant' as const,
    id: 'm2',
    content: [{ type: 'text' as const, text: 'Hello.' }],
    stopReason: 'stop' as const,
    timestamp: 2,
  }
  return { loopId: 'l1', entry: { type: 'assistant', message: { ...message, model: 'm', provider: 'p', usage } } }
}

const clientOf = (kind: string): LiveClient => new LiveClient(worker.url, kind)

describe('live runs', () => {
  it('continues after a disconnect and lets another client resume at its cursor', async () => {
    const client = clientOf('chat')
    const before = await readUntil(await client.prompt(), 'messageUpdate')
    const { id = 0, data } = before.at(-1) ?? {}
    const rest = await client.events(data.loopId, id)
    await client.behind('open')
    const after = await allFrames(rest)
    expect(after[0]?.id).toBe(id + 1)
    expect(textIn(before) + textIn(after)).toBe('one two three four')
    expect(after.at(-1)).toMatchObject({ event: 'agentEnd', data: { status: 'completed' } })
    expect(textIn(await allFrames(await client.events(data.loopId)))).toBe('one two three four')
    expect(await client.ends()).toMatchObject([{ status: 'completed' }])
    const { session } = await (await client.ask('/')).json()
    expect(session).toMatchObject({ sessionId: client.sessionId, loops: [{ loopId: data.loopId, status: 'completed' }] })
  })

  it('uses the context of the starting request, and requests it again after the object ends', async () => {
    const client = clientOf('twice')
    await (await client.prompt('Go.', { 'x-token': 'ada' })).text().catch(() => undefined)
    await client.ends()
    expect(await (await client.behind('contexts')).json()).toEqual(['ada', 'recover'])
  })

  it('responds while an interrupted run waits for its context', async () => {
    const client = clientOf('awaiting')
    await (await client.prompt('Go.', { 'x-token': 'ada' })).text().catch(() => undefined)
    for (const path of ['/', '/history', '/approvals']) expect((await client.ask(path)).status, path).toBe(200)
    // Asked once: no request waited until the object gave up.
    expect(await (await client.behind('asked')).json()).toEqual(['recover'])
    await client.behind('open')
    expect(await client.ends()).toMatchObject([{ status: 'completed' }])
    expect(await (await client.behind('contexts')).json()).toEqual(['ada', 'recover'])
  })

  it('stops an interrupted run that waits for its context', async () => {
    const client = clientOf('awaiting')
    await (await client.prompt('Go.', { 'x-token': 'ada' })).text().catch(() => undefined)
    expect((await client.ask('/stop', { method: 'POST' })).status).toBe(204)
    expect(await client.ends()).toMatchObject([{ status: 'aborted' }])
    expect(await (await client.behind('asked')).json()).toEqual(['recover'])
  })

  it('rejects a second prompt, unknown runs and invalid cursors', async () => {
    const client = clientOf('chat')
    expect((await client.ask('/')).status).toBe(404)
    const [start] = await readUntil(await client.prompt(), 'messageUpdate')
    const again = await client.prompt()
    expect([again.status, await again.json()]).toMatchObject([409, { code: 'busy' }])
    expect((await client.events('nobody')).status).toBe(404)
    expect((await client.ask(`/runs/${start?.data.loopId}/events?after=x`)).status).toBe(400)
    expect(await (await client.ask('/')).json()).toMatchObject({ runningLoopId: start?.data.loopId })
  })

  it('aborts the run when its client requests it', async () => {
    const client = clientOf('chat')
    await readUntil(await client.prompt(), 'messageUpdate')
    expect((await client.ask('/stop', { method: 'POST' })).status).toBe(204)
    expect(await client.ends()).toMatchObject([{ status: 'aborted' }])
  })

  it('ends the run and removes all data when its session is deleted', async () => {
    const client = clientOf('chat')
    await readUntil(await client.prompt(), 'messageUpdate')
    expect(await client.delete()).toBe(true)
    expect(await client.records()).toEqual([])
    expect((await client.ask('/')).status).toBe(404)
    expect(await (await client.behind('tables')).json()).toEqual([])
    await client.behind('open')
    expect(textIn(await allFrames(await client.prompt()))).toBe('one two three four')
  })

  it('lists the session and accepts requests only through forwardToSession', async () => {
    const client = clientOf('once')
    await client.behind('executions')
    await readUntil(await client.prompt(), 'toolExecutionStart').catch(() => undefined)
    await client.ends()
    expect(await (await fetch(new URL('/ids', worker.url))).json()).toContain(client.sessionId)
    expect((await fetch(new URL(`/raw/${client.sessionId}/runs`, worker.url), { method: 'POST' })).status).toBe(404)
    // As `forwardToSession` sends it, and too late.
    const late = { 'x-phi-core-call': 'live', 'x-phi-core-session': `default/${client.sessionId}`, 'x-phi-core-deadline': '1' }
    const refused = await fetch(new URL(`/raw/${client.sessionId}/stop`, worker.url), { method: 'POST', headers: late })
    expect([refused.status, (await refused.json()).code]).toEqual([504, 'deadlineExceeded'])
    // A client that says it is the store is a client all the same.
    await client.ask('/', { method: 'POST', headers: { 'x-phi-core-call': 'delete', 'x-phi-core-session': 'a/b' }, body: '{}' })
    expect((await client.records()).length).toBeGreaterThan(0)
  })
})

describe('live runs whose object stops', () => {
  it('resumes from the log and returns the loop that continues the stream', async () => {
    const client = clientOf('chat')
    const before = await readUntil(await client.prompt(), 'messageUpdate')
    const { id, data } = before.at(-1) ?? {}
    await client.behind('end')
    const gone = await client.events(data.loopId, id)
    const problem = await gone.json()
    expect([gone.status, problem.code]).toEqual([410, 'gone'])
    await client.behind('open')
    expect(textIn(await allFrames(await client.events(problem.continuedBy)))).toBe('one two three four')
    await client.ends()
    const { session } = await (await client.ask('/')).json()
    expect(session.loops).toMatchObject([
      { loopId: data.loopId, status: 'interrupted', messages: [{ role: 'user' }] },
      { loopId: problem.continuedBy, parentLoopId: data.loopId, status: 'completed', messages: [{ role: 'assistant' }] },
    ])
  })

  it('resumes the run without a request', async () => {
    const client = clientOf('chat')
    await readUntil(await client.prompt(), 'messageUpdate')
    await client.behind('openLater')
    await client.behind('end')
    expect(await client.ends()).toMatchObject([{ status: 'completed' }])
  })

  it('does not repeat a tool that already started', async () => {
    const client = clientOf('once')
    await client.prompt()
    expect(await client.ends()).toMatchObject([{ status: 'completed' }])
    expect(await (await client.behind('executions')).json()).toBe(1)
    const said = (await client.records()).flatMap(({ entry }) => (entry.type === 'recovered' ? entry.messages : []))
    expect(said).toMatchObject([{ role: 'toolResult', isError: true }])
  })

  it('repeats an idempotent tool', async () => {
    const client = clientOf('twice')
    await client.prompt()
    expect(await client.ends()).toMatchObject([{ status: 'completed' }])
    expect(await (await client.behind('executions')).json()).toBe(2)
  })

  it('resumes at most three times without progress', async () => {
    const client = clientOf('poison')
    await client.prompt()
    expect(await client.ends()).toMatchObject([{ status: 'error', error: { code: 'interrupted' } }])
    expect(await (await client.behind('executions')).json()).toBe(4)
    const { session, runningLoopId } = await (await client.ask('/')).json()
    expect(session.loops.map((loop: { status: string }) => loop.status)).toEqual(['interrupted', 'interrupted', 'interrupted', 'error'])
    expect(runningLoopId).toBe(undefined)
  })

  it.each([
    ['completed if only the end was missing', true, { status: 'completed' }],
    ['failed if the input was not stored', false, { status: 'error', error: { code: 'interrupted' } }],
  ])('records the correct end: %s', async (_name, isAnswered, end) => {
    const client = clientOf('chat')
    const usage = { input: 3, output: 4, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 7 }
    await client.seed(isAnswered ? [...begun(client.sessionId), answer(usage)] : begun(client.sessionId).slice(0, 2))
    expect(await (await client.ask('/')).json()).toMatchObject({ session: { loops: [{ loopId: 'l1' }] } })
    expect(await client.ends()).toMatchObject([{ ...end, ...(isAnswered && { usage }) }])
    await client.behind('open')
    expect(textIn(await allFrames(await client.prompt()))).toBe('one two three four')
  })

  it('keeps the conversation when the platform evicts the object while idle', async () => {
    const client = clientOf('turns')
    await allFrames(await client.prompt())
    await client.ends()
    await worker.harness.getWorker().evictDurableObject('SESSIONS', { name: `default/${client.sessionId}` })
    await allFrames(await client.prompt('Again.'))
    expect(await client.ends(2)).toMatchObject([{ status: 'completed' }, { status: 'completed' }])
    expect(await (await client.behind('executions')).json()).toBe(16)
    const { session } = await (await client.ask('/')).json()
    expect(session.loops[1].parentLoopId).toBe(session.loops[0].loopId)
  })
})

describe('the context of runs without a client', () => {
  const contextsOf = async (client: LiveClient): Promise<unknown[]> => (await client.behind('contexts')).json()
  const post = (client: LiveClient, path: string, body: object, token: string) => {
    const headers = { 'content-type': 'application/json', 'x-token': token }
    return client.ask(path, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  it('has the reason queued for a scheduled prompt, whoever scheduled it', async () => {
    const client = clientOf('turns')
    expect((await post(client, '/schedules', { prompt: 'Look.', at: Date.now() }, 'ada')).status).toBe(201)
    expect(await client.ends()).toMatchObject([{ status: 'completed' }])
    expect(await contextsOf(client)).toEqual(Array.from({ length: 8 }, () => 'queued'))
  })

  it('has the reason queued for a message that an ended run has left', async () => {
    const client = clientOf('turns')
    const usage = { input: 3, output: 4, reasoning: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 7 }
    const messages = [{ ...userMessage('And this.'), id: 'm3' }]
    const queued = { loopId: 'l1', entry: { type: 'queued' as const, kind: 'followUp' as const, messages, isReturned: false } }
    await client.seed([...begun(client.sessionId), answer(usage), queued])
    expect((await client.ask('/')).status).toBe(200)
    expect(await client.ends()).toMatchObject([{ status: 'completed' }])
    expect(new Set(await contextsOf(client))).toEqual(new Set(['queued']))
    expect(await (await client.behind('asked')).json()).toEqual(['recover', 'queued'])
  })

  it("makes an interrupted run wait, and never takes another client's", async () => {
    const client = clientOf('waiting')
    await (await client.prompt('Go.', { 'x-token': 'ada' })).text().catch(() => undefined)
    for (const [path, body] of [
      ['/runs', { prompt: 'Mine.' }],
      ['/continue', {}],
      ['/send', { prompt: 'Mine.' }],
    ] as const) {
      const response = await post(client, path, body, 'bob')
      expect([path, response.status, await response.json()]).toMatchObject([path, 409, { code: 'contextMissing' }])
    }
    expect((await client.ask('/')).status).toBe(200)
    expect(await contextsOf(client)).toEqual(['ada'])
    await client.behind('spare')
    await post(client, '/continue', {}, 'bob')
    expect(await client.ends()).toMatchObject([{ status: 'completed' }])
    expect(await contextsOf(client)).toEqual(['ada', 'recover'])
  })

  it('keeps repeating schedules going while an interrupted run waits', async () => {
    const client = clientOf('waiting')
    await (await client.prompt('Go.', { 'x-token': 'ada' })).text().catch(() => undefined)
    const first = await (await post(client, '/schedules', { prompt: 'Look.', everyMs: 60_000, at: Date.now() + 300 }, 'ada')).json()
    const next = async () => (await (await client.ask('/schedules')).json()).schedules[0]?.at
    await expect.poll(next, patient).toBe(first.at + 60_000)
  })
})
