import { expect } from 'vitest'
import { handOff, takeBack } from '../../examples/recipes/agents/handoff.ts'
import { Agent, resumeAgent, type SessionStore } from '../../src/index.ts'
import { exportSession } from '../../src/session.ts'
import { allEvents, EndpointClient, responseText } from '../../testing/endpoint/endpoint-client.ts'
import { endpointAgent } from '../../testing/index.ts'

/** A session that begins here, goes on at an endpoint of `endpointAgent`, and ends here. */
export async function thereAndBack(store: SessionStore, elsewhere: { url: string; fetch: typeof fetch }): Promise<void> {
  const sessionId = `ask-${crypto.randomUUID()}`
  const options = { ...endpointAgent(sessionId), approvalTimeoutMs: 1 }
  const agent = new Agent({ ...options, session: store, sessionId })
  expect((await agent.prompt('Send it.').result).status).toBe('paused')
  await agent.close()

  await handOff(store, sessionId, elsewhere)
  const client = new EndpointClient((path, init) => elsewhere.fetch(`${elsewhere.url}${path}`, init), '', 'ada', sessionId)
  const { approvals } = await (await client.get('/approvals')).json()
  const [{ toolCallId, argumentsHash }] = approvals
  const { loopId } = await (await client.post(`/approvals/${toolCallId}`, { approved: true, argumentsHash })).json()
  expect(responseText(await allEvents(await client.events(loopId)))).toBe('Sent.')

  await takeBack(store, sessionId, elsewhere)
  expect(await exportSession(store, sessionId)).toBe(await (await client.get('/export')).text())
  const back = await resumeAgent(store, sessionId, options)
  expect(back.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'extension', 'toolResult', 'assistant'])
  await back.close()
}
