import { expect, it } from 'vitest'
import { Agent, type AgentEvent } from '../../../src/index.ts'
import { contextOf, parallelLoop, pickFirst, snapshotOfContext } from '../../../src/loop.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { add, ofType } from '../../support/play.ts'

it('runs parallel branches from an agent and restores the selected one', async () => {
  const model = scripted([{ text: 'one' }, { text: 'three' }])
  const agent = new Agent({ model, systemPrompt: 'be brief', tools: [add] })
  await agent.prompt('first').result
  const events: AgentEvent[] = []
  const configs = [{ model: scripted([{ text: 'two a' }]) }, { model: scripted([{ text: 'two b' }]) }]
  const context = contextOf(agent.checkpoint(), agent.settings.tools)
  expect(context).toMatchObject({ systemPrompt: 'be brief', tools: [add], lastLoopId: agent.lastLoopId })
  const { signal } = new AbortController()
  const { selectedContext } = await parallelLoop({
    prompt: 'second',
    context,
    configs,
    strategy: pickFirst,
    emit: (event) => events.push(event),
    signal,
  })
  expect(agent.messages).toHaveLength(2)
  agent.restore(snapshotOfContext(selectedContext))
  agent.subscribe((event) => events.push(event))
  await agent.prompt('third').result
  expect(model.provider.requests.at(-1)?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
  expect(agent.settings.systemPrompt).toBe('be brief')
  const starts = ofType(events, 'agentStart')
  expect(new Set(starts.map(({ loopId }) => loopId)).size).toBe(3)
  expect(new Set(starts.map(({ sessionId }) => sessionId))).toEqual(new Set([agent.sessionId]))
  expect(starts.at(-1)?.parentLoopId).toBe(starts[0]?.loopId)
})
