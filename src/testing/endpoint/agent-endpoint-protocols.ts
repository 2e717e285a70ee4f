import type { JsonObject } from '../../contract/json.ts'
import type { TestRunner } from '../test-runner.ts'
import { type AskEndpoint, allEvents, type EndpointClient, eventsUntil } from './endpoint-client.ts'

/** What clients of the AI SDK and of AG-UI can do, who know nothing of our own routes. */
export function protocolTests({ it, expect }: TestRunner, clientOf: (kind: string) => EndpointClient, ask: AskEndpoint): void {
  const post = (path: string, body: JsonObject) =>
    ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const joins: [string, (sessionId: string) => Promise<Response>][] = [
    ['the AI SDK', (sessionId) => ask(`/chat/${sessionId}/stream`)],
    ['AG-UI', (threadId) => post('/agui', { threadId, runId: 'late', messages: [] })],
  ]
  const asked = async (client: EndpointClient) => {
    const request = (await eventsUntil(await client.prompt(), 'approvalRequested')).at(-1)
    if (request?.type !== 'approvalRequested') throw new Error('Nobody was asked.')
    return request
  }

  for (const [name, join] of joins) {
    it(`lets a client of ${name} go that waits for a person, and gives it the rest once somebody has decided`, async () => {
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
}
