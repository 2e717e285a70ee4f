import { describe, expect, it } from 'vitest'
import { llmCompaction } from '../../src/context.ts'
import { Agent } from '../../src/index.ts'
import { eventsOf, fixtureModel, ofType, wires } from '../harness/fixture-model.ts'
import { grammarFaults } from '../support/grammar.ts'
import { longHistory } from '../support/long-history.ts'

const room = { maxContextTokens: 1000, systemPromptTokens: 0 }
const compaction = { keepFirstTurns: 1, keepRecentTurns: 2, maxSummaryTokens: 200 }

describe('compaction', () => {
  it.each(wires)('sends a shorter request and keeps the history: %s', async (wire) => {
    const { model, requests } = fixtureModel(wire, 'text')
    const messages = longHistory(20, 100)
    const agent = new Agent({ model, messages, contextConfig: { ...room, compaction } })
    const events = await eventsOf(agent.prompt('Say hello.'))
    expect(grammarFaults(events)).toEqual([])
    expect(ofType(events, 'compactionEnded')).toHaveLength(1)
    const [request = ''] = await requests()
    for (const kept of ['answer old-0;', 'answer old-19;', 'Say hello.', '[Summary]']) expect(request).toContain(kept)
    expect(request).not.toContain('answer old-9;')
    expect(agent.messages.slice(0, 40)).toEqual(messages)
    await agent.prompt('Again.').result
    expect((await requests())[1]).not.toContain('answer old-9;')
  })

  it.each(wires)('sends a summary written by a model: %s', async (wire) => {
    const { model, requests } = fixtureModel(wire, 'text')
    const writer = fixtureModel(wire, 'text')
    const strategy = llmCompaction({ model: writer.model })
    const agent = new Agent({
      model,
      messages: longHistory(20, 100),
      contextConfig: { ...room, compaction: { ...compaction, strategy, focusMessage: 'the questions' } },
    })
    await agent.prompt('Say hello.').result
    const [asked = ''] = await writer.requests()
    expect(asked).toContain('answer old-9;')
    expect(asked).toContain('the questions')
    expect((await requests())[0]).toContain('[Summary] Hello, world.')
  })

  it('runs on demand as a separate loop', async () => {
    const agent = new Agent({ model: fixtureModel('anthropic', 'text').model, messages: longHistory(20, 100) })
    const events = await eventsOf(agent.compact())
    expect(events.map(({ type }) => type)).toEqual(['agentStart', 'compactionStarted', 'compactionEnded', 'agentEnd'])
  })
})
