import type { JsonObject } from '../../src/contract/json.ts'
import type { AgentEvent } from '../../src/contract/run/event.ts'
import type { TestRunner } from '../test-runner.ts'
import { allEvents, type EndpointClient, eventsUntil, problemOf } from './endpoint-client.ts'

/** A conversation with two loops. */
interface Talk {
  client: EndpointClient
  first: string
  second: string
  /** Id of the first message. */
  messageId: string
}

interface History {
  messages: { role: string; id: string; content: { text?: string }[] }[]
  loopId?: string
  queued?: { kind: string; message: { id: string } }[]
}

/** Tests going back to earlier loops, and changing the queue. */
export function placeTests({ it, expect }: TestRunner, clientOf: (kind: string) => EndpointClient): void {
  const talked = async (kind = 'talk'): Promise<Talk> => {
    const client = clientOf(kind)
    const first = await allEvents(await client.prompt('First.'))
    const second = await allEvents(await client.prompt('Second.'))
    const { messages } = await historyOf(client)
    return { client, first: loopOf(first), second: loopOf(second), messageId: messages[0]?.id ?? '' }
  }

  it('returns the conversation at the end of a loop', async () => {
    const { client, first, second } = await talked()
    expect(await promptsOf(client)).toEqual(['First.', 'Second.'])
    expect(await promptsOf(client, first)).toEqual(['First.'])
    expect((await historyOf(client)).loopId).toBe(second)
    expect((await historyOf(client, first)).loopId).toBe(first)
    expect((await problemOf(await client.get('/history?loopId=none'))).code).toBe('notFound')
  })

  it('starts any kind of run at the end of any loop', async () => {
    const { client, first, messageId } = await talked()
    const cases: [string, JsonObject, string[]][] = [
      ['/runs', { prompt: 'Otherwise.' }, ['First.', 'Otherwise.']],
      ['/send', { prompt: 'Or so.' }, ['First.', 'Or so.']],
      ['/regenerate', {}, ['First.']],
      ['/edit', { messageId, prompt: 'Other words.' }, ['Other words.']],
      ['/compact', {}, ['First.']],
    ]
    for (const [path, body, prompts] of cases) {
      const [start] = await allEvents(await client.post(path, { ...body, from: first }))
      expect([path, start?.type === 'agentStart' && start.parentLoopId]).toEqual([path, first])
      expect([path, await promptsOf(client)]).toEqual([path, prompts])
    }
    // The next run continues from there.
    await allEvents(await client.prompt('And on.'))
    expect(await promptsOf(client)).toEqual(['First.', 'And on.'])
    const { loopId: last = '' } = await historyOf(client)
    await allEvents(await client.post('/runs', { prompt: 'Still.', from: last }))
    expect(await promptsOf(client)).toEqual(['First.', 'And on.', 'Still.'])
  })

  it('regenerates the response to an earlier message', async () => {
    const { client, messageId } = await talked()
    await allEvents(await client.post('/regenerate', { messageId }))
    expect(await promptsOf(client)).toEqual(['First.'])
    expect((await problemOf(await client.post('/regenerate', { messageId: 'none' }))).code).toBe('notFound')
    expect((await problemOf(await client.post('/regenerate', { messageId: 7 }))).code).toBe('invalidBody')
  })

  it('does not move the conversation if no run starts', async () => {
    const { client, first } = await talked()
    const refused: [string, JsonObject, string][] = [
      ['/continue', { from: first }, 'nothingToContinue'],
      ['/edit', { messageId: 'none', prompt: 'x', from: first }, 'notFound'],
      ['/runs', { prompt: 'x', from: 'none' }, 'notFound'],
      ['/runs', { prompt: 'x', from: 7 }, 'invalidBody'],
    ]
    for (const [path, body, code] of refused) expect([path, (await problemOf(await client.post(path, body))).code]).toEqual([path, code])
    expect(await promptsOf(client)).toEqual(['First.', 'Second.'])
    await allEvents(await client.prompt('Third.'))
    expect(await promptsOf(client)).toEqual(['First.', 'Second.', 'Third.'])
  })

  it('branches once per idempotency key', async () => {
    const { client, first } = await talked()
    for (const [path, body] of [
      ['/runs', { prompt: 'Once.', from: first }],
      ['/branch', { prompt: 'Once more.', loopId: first }],
    ] as const) {
      const key = { 'idempotency-key': crypto.randomUUID() }
      const twins = await Promise.all([client.post(path, body, key), client.post(path, body, key)])
      const [one, other] = await Promise.all(twins.map(allEvents))
      expect(loopOf(other ?? [])).toBe(loopOf(one ?? []))
    }
    expect((await client.session()).session.loops.length).toBe(4)
  })

  it('withdraws a queued message once', async () => {
    const client = clientOf('slow')
    const [start] = await eventsUntil(await client.prompt(), 'messageUpdate')
    const ids: string[] = []
    for (const prompt of ['Kept.', 'Dropped.']) ids.push((await (await client.post('/follow-up', { prompt })).json()).messageId)
    expect((await historyOf(client)).queued?.map(({ kind, message }) => [kind, message.id])).toEqual(ids.map((id) => ['followUp', id]))
    expect((await client.delete(`/queue/${ids[1]}`)).status).toBe(204)
    expect((await problemOf(await client.delete(`/queue/${ids[1]}`))).code).toBe('notFound')
    expect((await historyOf(client)).queued?.map(({ message }) => message.id)).toEqual([ids[0]])
    expect((await problemOf(await client.post('/runs', { prompt: 'x', from: loopOf(start ? [start] : []) }))).code).toBe('busy')
    await allEvents(await client.events(start?.loopId ?? ''))
    expect(await promptsOf(client)).toEqual(['Go.', 'Kept.'])
    expect((await problemOf(await client.delete(`/queue/${ids[0]}`))).code).toBe('notFound')
  })
}

async function historyOf(client: EndpointClient, loopId?: string): Promise<History> {
  return (await client.get(loopId === undefined ? '/history' : `/history?loopId=${encodeURIComponent(loopId)}`)).json()
}

/** Returns the user messages' texts. */
async function promptsOf(client: EndpointClient, loopId?: string): Promise<string[]> {
  const { messages } = await historyOf(client, loopId)
  return messages.flatMap(({ role, content }) => (role === 'user' ? [content.map(({ text = '' }) => text).join('')] : []))
}

function loopOf(events: readonly AgentEvent[]): string {
  return events[0]?.loopId ?? ''
}
