import type { JsonObject } from '../../src/contract/json.ts'
import type { TestRunner } from '../test-runner.ts'
import { type AskEndpoint, allEvents, type EndpointClient, eventsUntil } from './endpoint-client.ts'

/** Tests with AI SDK and AG-UI clients, which do not use the native routes. */
export function protocolTests({ it, expect }: TestRunner, clientOf: (kind: string) => EndpointClient, ask: AskEndpoint): void {
  const post = (path: string, body: JsonObject) =>
    ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const joins: [string, (sessionId: string) => Promise<Response>][] = [
    ['AI SDK', (sessionId) => ask(`/chat/${sessionId}/stream`)],
    ['AG-UI', (threadId) => post('/agui', { threadId, runId: 'late', messages: [] })],
  ]
  const asked = async (client: EndpointClient) => {
    const request = (await eventsUntil(await client.prompt(), 'approvalRequested')).at(-1)
    if (request?.type !== 'approvalRequested') throw new Error('The run ended without an approval request.')
    return request
  }

  for (const [name, join] of joins) {
    it(`disconnects a waiting ${name} client and sends the rest after the decision`, async () => {
      const client = clientOf('report')
      const { toolCallId, argumentsHash, loopId } = await asked(client)
      const waiting = await (await join(client.sessionId)).text()
      expect([waiting.includes(argumentsHash), waiting.includes('149 ')]).toEqual([true, false])
      await client.post(`/approvals/${encodeURIComponent(toolCallId)}`, { approved: true, argumentsHash })
      const [late, later] = await Promise.all([join(client.sessionId), join(client.sessionId)].map(async (answer) => (await answer).text()))
      for (const answer of [late, later]) expect(answer?.includes('149 ')).toBe(true)
      expect((await allEvents(await client.events(loopId))).at(-1)?.type).toBe('agentEnd')
    })
  }

  const user = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] })
  const say = async (client: EndpointClient, id: string) => {
    const { sessionId } = client
    return (await post('/chat', { id: sessionId, trigger: 'submit-message', messages: [user(id, id)] })).text()
  }
  const again = (client: EndpointClient, id: string, more: JsonObject = {}) =>
    post('/chat', { id: client.sessionId, trigger: 'regenerate-message', messages: [user(id, id)], ...more })
  const shown = async ({ sessionId }: EndpointClient): Promise<{ id: string; role: string }[]> =>
    (await (await ask(`/chat/${sessionId}`)).json()).messages
  const userMessageIds = async (client: EndpointClient) => (await shown(client)).flatMap(({ id, role }) => (role === 'user' ? [id] : []))

  it('regenerates the response that a stale client specifies', async () => {
    const client = clientOf('talk')
    for (const id of ['one', 'two', 'three']) await say(client, id)
    const [, first = { id: '' }, , second = { id: '' }] = await shown(client)
    await (await again(client, 'two', { messageId: second.id })).text()
    expect(await userMessageIds(client)).toEqual(['one', 'two'])
    // The response was not stored, so the previous message identifies it.
    await (await again(client, 'two', { messageId: second.id })).text()
    expect(await userMessageIds(client)).toEqual(['one', 'two'])
    await (await again(client, 'one')).text()
    expect(await userMessageIds(client)).toEqual(['one'])
    expect((await shown(client))[1]?.id === first.id).toBe(false)
  })

  it('rejects regeneration of a message that is no longer in the conversation', async () => {
    const client = clientOf('talk')
    for (const id of ['one', 'two']) await say(client, id)
    await (await again(client, 'one')).text()
    const refused = await again(client, 'two')
    const { code, detail } = await refused.json()
    expect([refused.status, code, /reload/i.test(detail)]).toEqual([409, 'nothingToContinue', true])
    expect(await userMessageIds(client)).toEqual(['one'])
    // A message that never arrived is sent again.
    await (await again(client, 'new')).text()
    expect(await userMessageIds(client)).toEqual(['one', 'new'])
  })

  it('explains how to proceed while an approval is pending, and accepts steering', async () => {
    const client = clientOf('ask')
    const { toolCallId, argumentsHash, loopId, seq } = await asked(client)
    const input = { threadId: client.sessionId, runId: 'r', messages: [{ id: 'm2', role: 'user', content: 'And?' }] }
    const refusals = [
      await post('/chat', { id: client.sessionId, trigger: 'submit-message', messages: [user('m1', 'And?')] }),
      await again(client, 'm1'),
      await post('/agui', input),
    ]
    for (const refused of refusals) {
      const { code, detail } = await refused.json()
      expect([refused.status, code, /decision/.test(detail), /\(\)|run\.|agent\b/.test(detail)]).toEqual([409, 'busy', true, false])
    }
    const steered = await post(`/chat/${client.sessionId}/steer`, { prompt: 'Be brief.' })
    expect([steered.status, (await steered.json()).status]).toEqual([202, 'queued'])
    await client.post(`/approvals/${encodeURIComponent(toolCallId)}`, { approved: true, argumentsHash })
    // This agent's model calls the tool again after each user message.
    await eventsUntil(await client.events(loopId, seq), 'approvalRequested')
    expect(JSON.stringify(await shown(client)).includes('Be brief.')).toBe(true)
    await client.post('/stop')
  })

  it('notifies a second client about turns, decisions and run ends', async () => {
    const client = clientOf('ask')
    const left = new AbortController()
    const turns = await ask(`/chat/${client.sessionId}/turns`, { signal: left.signal })
    const reader = turns.body?.pipeThrough(new TextDecoderStream()).getReader()
    let heard = ''
    const hear = async (type: string) => {
      while (!heard.includes(`"${type}"`)) {
        const next = await reader?.read()
        if (next?.value === undefined) throw new Error(`The stream ended without ${type}, after ${heard}`)
        heard += next.value
      }
    }
    const { toolCallId, argumentsHash } = await asked(client)
    await hear('agentStart')
    await client.post(`/approvals/${encodeURIComponent(toolCallId)}`, { approved: true, argumentsHash })
    await hear('agentEnd')
    const types = [...heard.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data).type)
    expect(types).toEqual(['agentStart', 'approvalRequested', 'approvalResolved', 'agentEnd'])
    await reader?.cancel()
    left.abort()
  })
}
