import { afterAll, describe, expect, it } from 'vitest'
import { parseSession } from '../../../../src/session.ts'
import { allEvents, EndpointClient, eventsUntil, problemOf, responseText } from '../../../../testing/endpoint/endpoint-client.ts'
import { type AskEndpoint, agentEndpointSuite } from '../../../../testing/index.ts'
import { signed } from '../../../support/endpoint-users.ts'
import { openAiHostTests } from '../../../support/openai-host.ts'
import { startWorker } from '../../../workers/test-harness.ts'

const worker = await startWorker({ main: 'test/workers/endpoint-worker.ts', objects: { SESSIONS: 'Conversation', INDEX: 'IndexObject' } })
afterAll(() => worker.close())

const ask: AskEndpoint = (path, init = {}, user = 'ada') => fetch(new URL(path, worker.url), signed(init, user))

agentEndpointSuite(
  { describe, it, expect },
  {
    name: 'sessions in Durable Objects',
    schedules: true,
    ask,
    notices: async (sessionId, type) => (await ask(`/sessions/${sessionId}/history?told=${type}+${sessionId}`)).json(),
  },
)

openAiHostTests('OpenAI’s API over Durable Objects', ask)

describe('a session in a Durable Object', () => {
  it('stores run events if configured and returns them on request', async () => {
    const client = new EndpointClient(ask, 'talk')
    const told = await allEvents(await client.prompt())
    const kept = async (query: string) => {
      const { session } = await (await client.get(query)).json()
      const { loops } = parseSession(JSON.stringify(session))
      return loops.flatMap(({ events }) => events.map(({ event }) => [event.type, event.seq]))
    }
    // The last of them are written with the end of the loop, which nobody waits for.
    await expect.poll(() => kept('')).toEqual(told.map(({ type, seq }) => [type, seq]))
    expect(await kept('?events=false')).toEqual([])
  })

  it('accepts allowed client settings and rejects others by name', async () => {
    const prompt = (settings: { thinking: string } | { temperature: number }) =>
      new EndpointClient(ask, 'talk').post('/runs', { prompt: 'Go.', settings })
    expect(responseText(await allEvents(await prompt({ thinking: 'high' })))).toBe('one two three four')
    const refused = await prompt({ temperature: 1 })
    expect(await refused.json()).toMatchObject({
      status: 403,
      code: 'settingNotAllowed',
      detail: expect.stringContaining('can set thinking'),
    })
  })

  it('streams one run to 100 clients and rejects the next one', async () => {
    const client = new EndpointClient(ask, 'ask')
    const request = (await eventsUntil(await client.prompt(), 'approvalRequested')).at(-1)
    if (request?.type !== 'approvalRequested') throw new Error('The run ended without an approval request.')
    const { loopId, toolCallId, argumentsHash } = request
    const readers = await Promise.all(Array.from({ length: 102 }, () => client.events(loopId)))
    const accepted = readers.filter(({ ok }) => ok)
    // workerd may not know yet that the first reader left.
    expect([99, 100]).toContain(accepted.length)
    const refused = await Promise.all(readers.filter(({ ok }) => !ok).map(problemOf))
    expect(new Set(refused.map(({ code }) => code))).toEqual(new Set(['tooManyStreams']))
    await client.post(`/approvals/${toolCallId}`, { approved: true, argumentsHash })
    const said = await Promise.all(accepted.map(async (reader) => responseText(await allEvents(reader))))
    expect(new Set(said)).toEqual(new Set(['Sent.']))
  })
})
