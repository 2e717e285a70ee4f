import { describe, expect, it } from 'vitest'
import { runResponse } from '../../adapters/http/index.ts'
import { memory } from '../../examples/recipes/plugins/memory.ts'
import { piiFilter } from '../../examples/recipes/plugins/pii-filter.ts'
import { toolCache } from '../../examples/recipes/plugins/tool-cache.ts'
import { SubAgentTool } from '../../src/agents.ts'
import { Agent, type AgentEvent, memorySessionStore, textOf } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { eventsOf, ofType } from '../harness/fixture-model.ts'
import { grammarFaults } from '../support/grammar.ts'
import { tool } from '../support/play.ts'

const lookUp = { toolCalls: [{ name: 'look_up', arguments: { city: 'Bern' } }] }
const secret = 'Write to ann@example.org today. Or bob@example.org'
const shown = 'Write to [address] today. Or [address]'

function streamed(events: AgentEvent[]): string {
  return ofType(events, 'messageUpdate')
    .map(({ delta }) => (delta.type === 'text' ? delta.delta : ''))
    .join('')
}

describe('plugins', () => {
  it('adds memories to the request without changing the history', async () => {
    const asked: string[] = []
    const recall = async (question: string) => {
      asked.push(question)
      return ['Ann lives in Bern.']
    }
    const session = memorySessionStore()
    const model = scripted([lookUp, { text: 'Bern.' }])
    const agent = new Agent({ model, tools: [tool('look_up', () => 'a city')], plugins: [memory(recall)], session })
    expect(await agent.prompt('Where does Ann live?').text()).toBe('Bern.')
    expect(asked).toEqual(['Where does Ann live?'])
    for (const { messages } of model.provider.requests)
      expect(textOf(messages[0]?.content ?? [])).toBe('What is known:\nAnn lives in Bern.')
    expect(agent.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult', 'extension', 'assistant'])
  })

  it('filters text in events, the message and the next turn', async () => {
    const model = scripted([{ text: secret, ...lookUp }, { text: 'ok' }], { chunkSize: 3 })
    const agent = new Agent({ model, tools: [tool('look_up', () => 'a city')], plugins: [piiFilter] })
    const run = agent.prompt('Whom do I ask?')
    const events = await eventsOf(run)
    expect(streamed(events)).toBe(`${shown}ok`)
    expect(JSON.stringify([events, agent.messages, model.provider.requests])).not.toContain('@')
    expect(grammarFaults(events)).toEqual([])
  })

  it('applies over HTTP and in a sub-agent with its own plugins', async () => {
    let runs = 0
    const look = tool('look_up', () => {
      runs += 1
      return 'a city'
    })
    const inner = scripted([lookUp, { text: secret }])
    const helper = new SubAgentTool({
      ...{ name: 'helper', description: 'Helps.', model: inner, tools: [look] },
      plugins: [memory(async () => ['Bern is a city.'])],
    })
    const task = { toolCalls: [{ name: 'helper', arguments: { task: 'Look it up.' } }] }
    const model = scripted([lookUp, task, { text: secret }], { chunkSize: 3 })
    const agent = new Agent({
      model,
      tools: [look, helper],
      plugins: [memory(async () => ['Ann asks.']), toolCache(['look_up']), piiFilter],
    })
    const body = await runResponse(agent.prompt('go')).text()
    expect(runs).toBe(1)
    expect(textOf(model.provider.requests[0]?.messages[0]?.content ?? [])).toBe('What is known:\nAnn asks.')
    expect(textOf(inner.provider.requests[0]?.messages[0]?.content ?? [])).toBe('What is known:\nBern is a city.')
    expect(body).toContain('[address]')
    expect(body).not.toContain('@')
  })

  it('filters text over HTTP', async () => {
    const model = scripted([{ text: secret }], { chunkSize: 3 })
    const agent = new Agent({ model, plugins: [piiFilter] })
    const body = await runResponse(agent.prompt('Whom do I ask?')).text()
    expect(body).toContain('[address]')
    expect(body).not.toContain('@')
  })

  it('caches tool results for the agent and its sub-agents', async () => {
    let runs = 0
    const look = tool('look_up', () => {
      runs += 1
      return 'a city'
    })
    const helper = new SubAgentTool({
      name: 'helper',
      description: 'Helps.',
      model: scripted([lookUp, { text: secret }]),
      tools: [look],
      forward: 'events',
    })
    const task = { toolCalls: [{ name: 'helper', arguments: { task: 'Look it up.' } }] }
    const model = scripted([lookUp, lookUp, task, { text: 'done' }])
    const agent = new Agent({ model, tools: [look, helper], plugins: [toolCache(['look_up']), piiFilter] })
    const events = await eventsOf(agent.prompt('go'))
    expect(runs).toBe(1)
    expect(ofType(events, 'toolExecutionEnd').map(({ result }) => textOf(result.content))).toEqual(['a city', 'a city', shown])
    expect(JSON.stringify(events)).not.toContain('@')
    expect(grammarFaults(events)).toEqual([])
  })
})
