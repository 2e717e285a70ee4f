import { describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { Agent, memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { importSession } from '../../../src/session.ts'
import { tool } from '../../support/play.ts'

/** An app whose agent asks a person before it pays. */
function paying() {
  const steps = [{ toolCalls: [{ name: 'pay', arguments: {} }] }, { text: 'Paid.' }]
  const store = memorySessionStore()
  const agent = () => ({ model: scripted(steps), tools: [tool('pay', () => 'paid', { needsApproval: true })] })
  const app = createAgentApp({ sessions: memoryLiveSessions({ store, agent }), authorize: () => true, imports: true })
  const get = (path: string) => app.request(`/sessions/s${path}`)
  const post = (path: string, body: object) =>
    app.request(`/sessions/s${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  /** Begins a run, and resolves when its call waits. */
  const begin = async () => {
    void (await post('/runs', { prompt: 'Pay.' })).text()
    await expect.poll(async () => (await (await get('/approvals')).json()).approvals).toHaveLength(1)
  }
  return { app, get, post, begin }
}

describe('reading a session with a pending approval', () => {
  it('exports the history and the pending calls', async () => {
    const { get, begin } = paying()
    await begin()
    const response = await get('/export')
    expect(response.status).toBe(200)
    const other = memorySessionStore()
    await importSession(other, await response.text(), { sessionId: 'copy' })
    const { records } = await other.tail('copy')
    expect(JSON.stringify(records)).toContain('"pay"')
  })

  it('serves every read route', async () => {
    const { get, begin } = paying()
    await begin()
    const { loops } = await (await get('/loops')).json()
    const reads = ['', '/loops', '/history', '/approvals', '/inputs', '/client-calls', '/export', '/chat', '/chat/turns']
    const statuses = await Promise.all(reads.map(async (path) => [path, (await get(path)).status]))
    expect(statuses).toEqual(reads.map((path) => [path, 200]))
    expect(loops).toHaveLength(1)
  })
})

describe('unknown keys in a request body', () => {
  it.each([
    ['/runs', { prompt: 'Hi.', modle: 'fast' }, '"modle", which this route does not accept. Did you mean model?'],
    ['/send', { promt: 'Hi.' }, 'Did you mean prompt?'],
    ['/continue', { setings: {} }, 'Did you mean settings?'],
    ['/steer', { prompt: 'Hi.', loop_id: 'x' }, 'Did you mean loopId?'],
    ['/follow-up', { message: 'Hi.' }, '"message", which this route does not accept.'],
    ['/approvals/c', { approve: true }, 'Did you mean approved?'],
    ['/inputs/i', { action: 'accept', values: {} }, 'Known: action, content.'],
    ['/client-calls/c', { argumentsHash: 'h', result: 1 }, '"result", which this route does not accept.'],
    ['/client-calls/c/claim', { argumentsHash: 'h', client: 'x' }, 'Did you mean clientId?'],
    ['/schedules', { prompt: 'Hi.', every: 5000 }, 'Did you mean everyMs?'],
    ['/title', { name: 'x' }, 'Known: title.'],
  ])('rejects an unknown key by name at %s', async (path, body, sentence) => {
    const { post, get } = paying()
    const response = await post(path, body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'invalidBody', detail: expect.stringContaining(sentence) })
    expect((await get('')).status).toBe(404)
  })

  it.each([
    ['/compact', { focus: 'x' }, 'Did you mean focusMessage?'],
    ['/regenerate', { id: 'x' }, '"id", which this route does not accept.'],
    ['/edit', { messageId: 'x', prompts: 'Hi.' }, 'Did you mean prompt?'],
    ['/branch', { loop: 'x', prompt: 'Hi.' }, 'Did you mean loopId?'],
  ])('rejects an unknown key by name at %s', async (path, body, sentence) => {
    const { post, begin } = paying()
    await begin()
    const response = await post(path, body)
    expect([response.status, (await response.json()).detail]).toEqual([400, expect.stringContaining(sentence)])
  })

  it('rejects an unknown key by name for a run without a session', async () => {
    const model = scripted(() => ({ text: 'Hi.' }))
    const app = createAgentApp({ agent: () => new Agent({ model }), authorize: () => true })
    const headers = { 'content-type': 'application/json' }
    const response = await app.request('/runs', { method: 'POST', headers, body: JSON.stringify({ prompt: 'Hi.', modle: 'fast' }) })
    expect([response.status, (await response.json()).detail]).toEqual([400, expect.stringContaining('Did you mean model?')])
  })
})
