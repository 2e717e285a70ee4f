import { describe, expect, it } from 'vitest'
import { Agent, AgentBusyError, userMessage } from '../../src/index.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import { unansweredCalls } from '../support/grammar.ts'
import { requestText } from '../support/long-history.ts'
import { fastRetry, ofType, play, tool } from '../support/play.ts'

async function send(agent: Agent, input = 'said') {
  const run = agent.send(input)
  const events = []
  for await (const event of run) events.push(event)
  return { events, result: await run.result, kind: ofType(events, 'agentStart')[0]?.continuationKind.kind }
}

const agentOn = (script: Script) => {
  const model = scripted(script)
  return { agent: new Agent({ model, retry: fastRetry }), model }
}

describe('agent.send', () => {
  it('starts a run with an empty history', async () => {
    const { agent } = agentOn([{ text: 'hello' }])
    const { kind, result } = await send(agent)
    expect([kind, result.text]).toEqual(['initial', 'hello'])
    expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
  })

  it('starts a new run after a complete response', async () => {
    const { agent, model } = agentOn([{ text: 'hello' }, { text: 'again' }])
    await send(agent, 'one')
    const { kind } = await send(agent, 'two')
    expect(kind).toBe('initial')
    expect(model.provider.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })

  it('continues an unanswered history and appends the input', async () => {
    const { agent, model } = agentOn([{ text: 'hello' }])
    agent.appendMessage(userMessage('unanswered'))
    const { kind, result } = await send(agent)
    expect([kind, result.status]).toEqual(['default', 'completed'])
    expect(requestText(model.provider.requests[0])).toMatch(/unanswered.*said/)
    expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'user', 'assistant'])
    expect(model.provider.requests).toHaveLength(1)
  })

  it('continues after a failed response and after tool results', async () => {
    const { agent } = agentOn([{ fail: { code: 'api', message: 'down' } }, { text: 'up' }])
    expect((await send(agent, 'one')).result.status).toBe('error')
    const { kind, result } = await send(agent, 'two')
    expect([kind, result.text]).toEqual(['default', 'up'])
  })

  it('continues with pending approvals and adds the input after their results', async () => {
    const asked = tool('asked', () => 'allowed', { needsApproval: true })
    const script = [{ toolCalls: [{ name: 'asked', arguments: {} }] }, { text: 'thanks' }]
    const { agent, model } = await play(script, { tools: [asked], approvalTimeoutMs: 1 })
    agent.configure({ approvalTimeoutMs: 60_000 })
    const run = agent.send('go ahead')
    for await (const event of run) if (event.type === 'approvalRequested') run.approve(event)
    expect((await run.result).status).toBe('completed')
    expect(unansweredCalls(agent.messages)).toEqual([])
    expect(model.provider.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult', 'user'])
    expect(requestText(model.provider.requests[1])).toMatch(/allowed.*go ahead/)
  })

  it('throws like prompt and queues nothing', async () => {
    const { agent, model } = agentOn([{ text: 'hello' }, { text: 'again' }])
    agent.appendMessage(userMessage('unanswered'))
    expect(() => agent.send(' ')).toThrow(expect.objectContaining({ code: 'emptyPrompt' }))
    const run = agent.send('one')
    expect(() => agent.send('two')).toThrow(AgentBusyError)
    await run.result
    await agent.prompt('three').result
    expect(requestText(model.provider.requests[1])).not.toContain('two')
  })

  it('returns its message if the run is aborted before the start', async () => {
    const { agent, model } = agentOn([{ text: 'hello' }])
    agent.appendMessage(userMessage('unanswered'))
    const run = agent.send('said')
    run.abort()
    expect(await run.result).toMatchObject({ status: 'aborted', returned: [{ role: 'user', content: [{ text: 'said' }] }] })
    await agent.send('again').result
    expect(requestText(model.provider.requests.at(-1))).toMatch(/unanswered.*again/)
    expect(requestText(model.provider.requests.at(-1))).not.toContain('said')
  })

  it('delivers several messages before the first request', async () => {
    const { agent, model } = agentOn([{ text: 'hello' }, { text: 'more' }])
    agent.appendMessage(userMessage('unanswered'))
    const run = agent.send([userMessage('first'), userMessage('second')])
    await run.result
    expect(requestText(model.provider.requests[0])).toMatch(/unanswered.*first.*second/)
    expect(model.provider.requests).toHaveLength(1)
  })
})
