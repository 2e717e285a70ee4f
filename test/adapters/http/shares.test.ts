/** What one caller can use up of what all share: no more than a share, unless the server says otherwise. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import type { MemoryLiveSessionsOptions } from '../../../adapters/http/live/memory/memory-options.ts'
import type { RouteOptions } from '../../../adapters/http/routes/route-options.ts'
import { memorySessionStore } from '../../../src/index.ts'
import { endpointAgent } from '../../../testing/index.ts'

function serverWith(options: Partial<MemoryLiveSessionsOptions> = {}, routes: RouteOptions = {}) {
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: ({ sessionId }) => endpointAgent(sessionId), ...options })
  onTestFinished(() => sessions.close())
  const app = createAgentApp({ sessions, authorize: (c) => c.req.header('x-user'), ...routes })
  const ask = async (user: string, path: string, body?: object) =>
    app.request(`/sessions/${path}`, {
      headers: { 'x-user': user, 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })
  /** Begins a run that waits for a person for ever, and leaves. */
  const abandon = async (user: string, sessionId: string) => {
    const response = await ask(user, `${sessionId}/runs`, { prompt: 'Go.' })
    if (response.ok) await response.body?.cancel()
    return response
  }
  return { ask, abandon }
}

async function refusal(response: Response): Promise<[number, string, boolean]> {
  return [response.status, (await response.json()).code, Number(response.headers.get('retry-after')) >= 1]
}

describe('limits per caller', () => {
  it('serves other callers if one has 100 abandoned runs', async () => {
    const { abandon } = serverWith()
    for (let at = 0; at < 100; at++) expect((await abandon('ada', `ask-${at}`)).status).toBe(200)
    expect(await refusal(await abandon('ada', 'ask-100'))).toEqual([429, 'tooManyRuns', true])
    expect((await abandon('bob', 'ask-0')).status).toBe(200)
  })

  it('serves other callers if one reads 100 streams', async () => {
    const { ask } = serverWith()
    const open = await Promise.all(Array.from({ length: 100 }, (_, at) => ask('ada', `talk-${at % 10}/events`)))
    expect(await refusal(await ask('ada', 'talk-0/events'))).toEqual([429, 'tooManyStreams', true])
    const other = await ask('bob', 'talk-0/events')
    expect(other.status).toBe(200)
    await open[0]?.body?.cancel()
    const next = await ask('ada', 'talk-0/events')
    expect(next.status).toBe(200)
    await Promise.all([...open.slice(1), other, next].map(({ body }) => body?.cancel()))
  })

  it('evicts the longest idle session of the same caller', async () => {
    const { ask, abandon } = serverWith({ maxSessions: 5, maxSessionsPerCaller: 2 })
    for (const id of ['talk-1', 'talk-2', 'talk-3']) expect((await ask('ada', `${id}/history`)).status).toBe(200)
    for (const id of ['ask-1', 'ask-2']) expect((await abandon('ada', id)).status).toBe(200)
    expect(await refusal(await abandon('ada', 'ask-3'))).toEqual([429, 'tooManySessions', true])
    for (const user of ['bob', 'eve']) expect((await abandon(user, 'ask-1')).status).toBe(200)
  })

  it('keeps up to 200 sessions in memory by default', async () => {
    const made: string[] = []
    const { ask } = serverWith({
      agent: ({ sessionId }) => {
        made.push(sessionId)
        return endpointAgent(sessionId)
      },
    })
    const talk = async (at: number) => (await ask('ada', `talk-${at}/runs`, { prompt: 'Go.' })).text()
    for (let at = 0; at < 200; at++) await talk(at)
    await talk(1)
    expect(made).toHaveLength(200)
    // The first has rested longest: it leaves, and is made again when it is asked for.
    await talk(200)
    await talk(0)
    expect(made.slice(200)).toEqual(['talk-200', 'talk-0'])
  })

  it('returns a retry delay if the server is full', async () => {
    const { abandon } = serverWith({ maxSessions: 2 })
    for (const user of ['ada', 'bob']) await abandon(user, 'ask-1')
    expect(await refusal(await abandon('eve', 'ask-1'))).toEqual([503, 'tooManySessions', true])
  })

  it('uses the limits in the server options', async () => {
    const { ask, abandon } = serverWith({ maxOpenRuns: 1 }, { maxOpenStreams: 2 })
    expect((await abandon('ada', 'ask-1')).status).toBe(200)
    expect(await refusal(await abandon('ada', 'ask-2'))).toEqual([429, 'tooManyRuns', true])
    const open = await Promise.all([1, 2].map(() => ask('ada', 'ask-1/events')))
    expect(await refusal(await ask('ada', 'ask-1/events'))).toEqual([429, 'tooManyStreams', true])
    await Promise.all(open.map(({ body }) => body?.cancel()))
  })
})
