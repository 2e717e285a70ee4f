import type { TestRunner } from '../test-runner.ts'
import { allEvents, type EndpointClient, eventsUntil, problemOf } from './endpoint-client.ts'

/** The parts of a notice that the tests need. */
export interface SessionNotice {
  type: 'waiting' | 'end'
  id: string
  sessionId: string
  identity?: string
  loopId: string
  status?: string
  approvals?: readonly { toolCallId: string }[]
}

/** Resolves with the first notice of this type for a session. */
export type NoticesOf = (sessionId: string, type: SessionNotice['type']) => Promise<readonly SessionNotice[]>

/** Tests notices for unattended sessions. */
export function noticeTests({ it, expect }: TestRunner, clientOf: (kind: string) => EndpointClient, noticesOf: NoticesOf): void {
  it('notifies once when a run ends, with its owner', async () => {
    const client = clientOf('talk')
    const [first] = await allEvents(await client.prompt())
    const notices = await noticesOf(client.sessionId, 'end')
    expect(notices.map(({ status, loopId, identity }) => [status, loopId, identity])).toEqual([['completed', first?.loopId, 'ada']])
  })

  it('notifies about a pending approval without connected clients, and about the end after a stop', async () => {
    const client = clientOf('ask')
    const asked = (await eventsUntil(await client.prompt(), 'approvalRequested')).at(-1)
    if (asked?.type !== 'approvalRequested') throw new Error('The run ended without an approval request.')
    const [waiting, ...more] = await noticesOf(client.sessionId, 'waiting')
    expect([waiting?.approvals?.map(({ toolCallId }) => toolCallId), waiting?.loopId, more]).toEqual([[asked.toolCallId], asked.loopId, []])
    await client.post('/stop')
    const [end] = await noticesOf(client.sessionId, 'end')
    expect([end?.status, end?.loopId]).toEqual(['aborted', asked.loopId])
  })
}

const year = 365 * 86_400_000

/** Tests scheduled prompts. */
export function scheduleTests({ it, expect }: TestRunner, clientOf: (kind: string) => EndpointClient): void {
  it('runs a scheduled prompt once when it is due, without connected clients', async () => {
    const client = clientOf('talk')
    const feed = await client.get('/events')
    const added = await client.post('/schedules', { prompt: 'Good morning.', at: Date.now() })
    expect(added.status).toBe(201)
    const { id } = await added.json()
    expect((await eventsUntil(feed, 'agentEnd')).at(-1)?.type).toBe('agentEnd')
    const { session } = await client.session()
    const prompts = session.loops.flatMap(({ messages }) => messages.filter(({ role }) => role === 'user').map((message) => message.id))
    expect([prompts.length, prompts[0]?.startsWith(id)]).toEqual([1, true])
    expect(await (await client.get('/schedules')).json()).toEqual({ schedules: [] })
  })

  it('lists schedules in order for their owner, who can delete them', async () => {
    const client = clientOf('talk')
    const at = Date.now() + year
    const once = await (await client.post('/schedules', { prompt: 'Once.', at })).json()
    const daily = await (await client.post('/schedules', { prompt: 'Daily.', everyMs: 86_400_000 })).json()
    const list = async () => (await (await client.get('/schedules')).json()).schedules
    expect(await list()).toEqual([daily, once])
    expect([once.at, daily.everyMs, daily.prompt]).toEqual([at, 86_400_000, 'Daily.'])
    const stranger = client.as('bob')
    expect((await (await stranger.get('/schedules')).json()).schedules).toEqual([])
    expect((await problemOf(await stranger.delete(`/schedules/${once.id}`))).status).toBe(404)
    expect((await client.delete(`/schedules/${daily.id}`)).status).toBe(204)
    expect((await problemOf(await client.delete(`/schedules/${daily.id}`))).code).toBe('notFound')
    expect(await list()).toEqual([once])
  })

  it('rejects invalid schedules with the reason', async () => {
    const client = clientOf('talk')
    const bodies = [{ prompt: 'No time.' }, { prompt: ' ', at: 1 }, { prompt: 'Soon.', at: 'soon' }, { prompt: 'Often.', everyMs: 1000 }]
    for (const body of [...bodies, { prompt: 'Never.', at: Date.now() + 100 * year }]) {
      expect((await problemOf(await client.post('/schedules', body))).code).toBe('invalidBody')
    }
    for (let at = 0; at < 50; at++) expect((await client.post('/schedules', { prompt: `${at}`, at: Date.now() + year })).status).toBe(201)
    expect((await problemOf(await client.post('/schedules', { prompt: 'One more.', at: Date.now() + year }))).code).toBe('tooManySchedules')
  })
}
