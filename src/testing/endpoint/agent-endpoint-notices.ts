import type { TestRunner } from '../test-runner.ts'
import { allEvents, type EndpointClient, eventsUntil } from './endpoint-client.ts'

/** What a host tells its application, as far as the tests look at it. */
export interface ToldNotice {
  type: 'waiting' | 'end'
  id: string
  sessionId: string
  identity?: string
  loopId: string
  status?: string
  approvals?: readonly { toolCallId: string }[]
}

/** Resolves with what was told of this type about a session, once anything was. */
export type Told = (sessionId: string, type: ToldNotice['type']) => Promise<readonly ToldNotice[]>

/** Somebody is told what becomes of sessions that nobody watches. */
export function noticeTests({ it, expect }: TestRunner, clientOf: (kind: string) => EndpointClient, told: Told): void {
  it('tells that a run has ended, once, and whose it is', async () => {
    const client = clientOf('talk')
    const [first] = await allEvents(await client.prompt())
    const notices = await told(client.sessionId, 'end')
    expect(notices.map(({ status, loopId, identity }) => [status, loopId, identity])).toEqual([['completed', first?.loopId, 'ada']])
  })

  it('tells that a call waits for a person once nobody is connected, and the end once somebody has stopped it', async () => {
    const client = clientOf('ask')
    const asked = (await eventsUntil(await client.prompt(), 'approvalRequested')).at(-1)
    if (asked?.type !== 'approvalRequested') throw new Error('Nobody was asked.')
    const [waiting, ...more] = await told(client.sessionId, 'waiting')
    expect([waiting?.approvals?.map(({ toolCallId }) => toolCallId), waiting?.loopId, more]).toEqual([[asked.toolCallId], asked.loopId, []])
    await client.post('/stop')
    const [end] = await told(client.sessionId, 'end')
    expect([end?.status, end?.loopId]).toEqual(['aborted', asked.loopId])
  })
}
