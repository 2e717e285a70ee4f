import { afterAll, describe, expect, it } from 'vitest'
import { startWorker } from '../../../workers/test-harness.ts'
import { allFrames } from '../../http/read-sse.ts'
import { LiveClient, readUntil, textIn } from './live-client.ts'

const worker = await startWorker({
  main: 'test/workers/live-worker.ts',
  objects: { SESSIONS: 'Conversation', INDEX: 'IndexObject', FEW: 'FewConversations' },
})
afterAll(() => worker.close())

const clientOf = (kind: string): LiveClient => new LiveClient(worker.url, kind)

/** The status and the code of a refused request. */
async function refusal(response: Response): Promise<[number, string | undefined]> {
  const problem = await response.json().catch(() => ({}))
  return [response.status, problem.code]
}

const headers = { 'content-type': 'application/json' }
const prompt = (text: string) => ({ method: 'POST', headers, body: JSON.stringify({ prompt: text }) })

describe('client access to a live session', () => {
  it.each(['', '.', '..', '../x', ' ', 'a b', 'café', 'x'.repeat(201), 'x\0', '%E0%A4%A', '😀', 'a/b', '__proto__\n'])(
    'responds with 400 to the id %j',
    async (id) => {
      for (const path of ['/runs', '/', '/stop']) {
        const response = await fetch(new URL(`/odd?${new URLSearchParams({ id, path })}`, worker.url), path === '/' ? {} : prompt('Hi.'))
        expect(await refusal(response)).toEqual([400, 'invalidId'])
      }
    },
  )

  it('responds with 404 to unknown sessions and creates no agent', async () => {
    const client = clientOf('chat')
    await client.behind('lock')
    for (const [method, path] of [
      ['GET', '/'],
      ['POST', '/stop'],
      ['GET', '/runs/nobody/events'],
      ['GET', '/runs/%E0%A4%A/events'],
      ['GET', '/nothing'],
      ['PUT', '/runs'],
      ['DELETE', '/'],
      ['GET', '//'],
      ['GET', '//evil.example/runs'],
      ['GET', '/..%2f..%2f'],
      ['GET', '/runs%3Fx'],
    ] as const) {
      const response = await client.ask(path, { method })
      expect([method, path, ...(await refusal(response))]).toEqual([method, path, 404, 'notFound'])
    }
  })

  it('rejects a body above maxBodyBytes, even without a content length', async () => {
    const client = clientOf('chat')
    expect(await refusal(await client.ask('/runs', prompt('x'.repeat(10_001))))).toEqual([413, 'bodyTooLarge'])
    let left = 20
    const chunks = new ReadableStream({
      pull: (controller) => (left-- > 0 ? controller.enqueue(new TextEncoder().encode(' '.repeat(1000))) : controller.close()),
    })
    const silent = { method: 'POST', headers, body: chunks, duplex: 'half' } as RequestInit
    expect(await refusal(await client.ask('/runs', silent))).toEqual([413, 'bodyTooLarge'])
    expect(await client.records()).toEqual([])
  })

  it('limits open runs per tenant to maxOpenRuns', async () => {
    const ids = Array.from({ length: 6 }, () => `chat-${crypto.randomUUID()}`)
    const ask = (id: string, path: string, init?: RequestInit) => fetch(new URL(`/few/${id}${path}`, worker.url), init)
    // Passes as a body, and not as a prompt: it takes no place.
    const empty = { method: 'POST', headers, body: JSON.stringify({ prompt: [{ role: 'user', content: [{ type: 'text', text: '' }] }] }) }
    for (const id of ids) expect((await ask(id, '/runs', empty)).status).toBe(400)
    const started = await Promise.all(ids.map((id) => ask(id, '/runs', prompt('Go.'))))
    expect(started.map(({ status }) => status).toSorted()).toEqual([200, 200, 429, 429, 429, 429])
    const refused = started.find(({ status }) => status === 429)
    expect(await refused?.json()).toMatchObject({ code: 'tooManyRuns' })
    const running = ids.filter((_, index) => started[index]?.status === 200)
    // The same session again is busy, and takes no other place.
    expect(await refusal(await ask(running[0] ?? '', '/runs', prompt('Go.')))).toEqual([409, 'busy'])
    expect((await ask(running[0] ?? '', '/stop', { method: 'POST' })).status).toBe(204)
    const waiting = ids.filter((id) => !running.includes(id))
    expect((await ask(waiting[0] ?? '', '/runs', prompt('Go.'))).status).toBe(200)
    expect((await ask(waiting[1] ?? '', '/runs', prompt('Go.'))).status).toBe(429)
    // Nothing is left behind in a session that was refused.
    expect((await ask(waiting[1] ?? '', '/')).status).toBe(404)
  })
})

describe('an error thrown by agentOptions', () => {
  it('does not count as a run attempt and keeps the session readable', async () => {
    const client = clientOf('chat')
    const before = await readUntil(await client.prompt(), 'messageUpdate')
    const { id, data } = before.at(-1) ?? {}
    await client.behind('lock')
    for (let time = 0; time < 5; time++) {
      await client.behind('end')
      const response = await client.ask('/')
      expect([response.status, await response.json()]).toMatchObject([200, { session: { loops: [{ loopId: data.loopId }] } }])
      expect(await refusal(await client.events(data.loopId, id))).toEqual([410, 'gone'])
      const refused = await client.prompt()
      expect(refused.status).toBe(500)
      expect(await refused.text()).not.toContain('hunter2')
    }
    await client.behind('unlock')
    const { runningLoopId } = await (await client.ask('/')).json()
    await client.behind('open')
    expect(textIn(await allFrames(await client.events(runningLoopId)))).toBe('one two three four')
    expect(await client.ends()).toMatchObject([{ status: 'completed' }])
  })

  it('lets a client stop an interrupted run', async () => {
    const client = clientOf('chat')
    await readUntil(await client.prompt(), 'messageUpdate')
    await client.behind('lock')
    await client.behind('end')
    expect((await client.ask('/stop', { method: 'POST' })).status).toBe(204)
    expect(await client.ends()).toMatchObject([{ status: 'aborted' }])
    await client.behind('unlock')
    expect(await (await client.ask('/')).json()).not.toHaveProperty('runningLoopId')
  })
})

describe('a session owned by another writer', () => {
  const steps = async (client: LiveClient, ...names: string[]): Promise<unknown[]> =>
    (await fetch(new URL(`/steps/${client.sessionId}`, worker.url), { method: 'POST', body: names.join(' ') })).json()

  it.each([
    ['while its run is active', []],
    ['after the object has stopped', ['end']],
  ])('leaves the session to the other writer: %s', async (_name, first) => {
    const client = clientOf('chat')
    await readUntil(await client.prompt(), 'messageUpdate')
    const outcomes = await steps(client, ...first, 'append', 'open', 'alarm', 'get', 'append', 'end', 'get', 'alarm', 'get', 'append')
    expect(outcomes).toEqual(['fulfilled', 'idle', 'fulfilled', 'idle', 'idle', 'fulfilled'])
  })

  it('resumes the run after the other writer released the session', async () => {
    const client = clientOf('chat')
    await readUntil(await client.prompt(), 'messageUpdate')
    const outcomes = await steps(client, 'end', 'append', 'get', 'close', 'end', 'openLater', 'end')
    expect(outcomes).toEqual(['fulfilled', 'idle', 'fulfilled'])
    await client.ask('/')
    expect(await client.ends()).toMatchObject([{ status: 'completed' }])
  })

  it('takes over the session on a prompt and reads all records', async () => {
    const client = clientOf('chat')
    await client.behind('open')
    await allFrames(await client.prompt())
    expect(await steps(client, 'append', 'append')).toEqual(['fulfilled', 'fulfilled'])
    expect((await allFrames(await client.prompt('Again.'))).at(-1)).toMatchObject({ data: { status: 'completed' } })
    const said = (await client.records()).flatMap(({ entry }) => (entry.type === 'input' ? [entry.message.role] : []))
    expect(said).toEqual(['user', 'extension', 'extension', 'user'])
  })
})
