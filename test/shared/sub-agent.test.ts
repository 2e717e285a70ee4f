import { describe, expect, it } from 'vitest'
import { SubAgentTool } from '../../src/agents.ts'
import { Agent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { eventsOf, fixtureModel, ofType, wires } from '../harness/fixture-model.ts'
import { grammarFaults } from '../support/grammar.ts'

const description = 'Says hello.'
const asking = { toolCalls: [{ name: 'helper', arguments: { task: 'Say hello.' } }] }

describe('sub-agents', () => {
  it.each(wires)('responds to its task and forwards events: %s', async (wire) => {
    const { model, requests } = fixtureModel(wire, 'text')
    const helper = new SubAgentTool({ name: 'helper', description, model, forward: 'events' })
    const agent = new Agent({ model: scripted([asking, { text: 'thanks' }]), tools: [helper] })
    const run = agent.prompt('Not for the helper.')
    const events = await eventsOf(run)
    expect(grammarFaults(events)).toEqual([])
    const [ended] = ofType(events, 'toolExecutionEnd')
    expect(ended).toMatchObject({ isError: false, result: { content: [{ type: 'text', text: 'Hello, world.' }] } })
    const children = ofType(events, 'childEvent').map(({ event }) => event)
    expect(ofType(children, 'agentStart')).toMatchObject([{ loopId: ended?.childLoopId, parentLoopId: run.loopId }])
    expect(ofType(events, 'toolExecutionUpdate').length).toBeGreaterThan(0)
    const [request = ''] = await requests()
    expect(request).toContain('Say hello.')
    expect(request).not.toContain('Not for the helper.')
  })

  it.each(wires)('runs in the background and reports to the run: %s', async (wire) => {
    const { model } = fixtureModel(wire, 'text')
    const helper = new SubAgentTool({ name: 'helper', description, model, background: true })
    const agent = new Agent({ model: scripted([asking, { text: 'waiting' }, { text: 'thanks' }]), tools: [helper] })
    const run = agent.prompt('go')
    const events = await eventsOf(run)
    expect(grammarFaults(events)).toEqual([])
    expect(ofType(events, 'backgroundEnd')).toMatchObject([
      { isError: false, result: { content: [{ type: 'text', text: 'Hello, world.' }] } },
    ])
    expect(await run.text()).toBe('thanks')
  })

  it.each(wires)('aborts with the parent run: %s', async (wire) => {
    const { model, idle } = fixtureModel(wire, 'hang')
    const helper = new SubAgentTool({ name: 'helper', description, model })
    const agent = new Agent({ model: scripted([asking, { text: 'never' }]), tools: [helper] })
    const run = agent.prompt('go')
    await eventsOf(run, (event) => {
      if (event.type === 'toolExecutionUpdate') run.abort()
    })
    expect(await run.result).toMatchObject({ status: 'aborted' })
    await idle()
  })
})
