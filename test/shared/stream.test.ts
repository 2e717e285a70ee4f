import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/index.ts'
import { eventsOf, fixtureModel, ofType, wires } from '../harness/fixture-model.ts'

describe('stream', () => {
  it.each(wires)('emits a delta before the provider has finished: %s', async (wire) => {
    const { model, release, requests } = fixtureModel(wire, 'slow')
    const run = new Agent({ model }).prompt('Say hello.')
    let hasReleased = false
    const events = await eventsOf(run, async (event) => {
      if (event.type !== 'messageUpdate' || hasReleased) return
      hasReleased = true // the server waits for this: were deltas held back, the run would hang here
      await release()
    })
    expect(hasReleased).toBe(true)
    expect(await run.text()).toBe('Hello, world.')
    const deltas = ofType(events, 'messageUpdate').map((event) => event.delta)
    expect(deltas.map((delta) => ('delta' in delta ? delta.delta : '')).join('')).toBe('Hello, world.')
    expect(await requests()).toHaveLength(1)
  })

  it.each(wires)('sets run, session and an increasing cursor on every event: %s', async (wire) => {
    const agent = new Agent({ model: fixtureModel(wire, 'text').model })
    const run = agent.prompt('Say hello.')
    const events = await eventsOf(run)
    expect(events.map((event) => event.runId)).toEqual(events.map(() => run.id))
    expect(events.map((event) => event.sessionId)).toEqual(events.map(() => agent.sessionId))
    expect(events.map((event) => event.seq)).toEqual(events.map((event) => event.seq).toSorted((a, b) => a - b))
    expect(events[0]?.type).toBe('agentStart')
    expect(events.at(-1)).toMatchObject({ type: 'agentEnd', status: 'completed' })
    expect((await run.result).usage).toMatchObject({ input: 20, output: 9 })
  })

  it.each(wires)('retries an overloaded provider: %s', async (wire) => {
    const { model, requests } = fixtureModel(wire, 'error-529')
    const retry = { maxRetries: 3, initialDelayMs: 1, backoffMultiplier: 1, maxDelayMs: 1 }
    const run = new Agent({ model, retry }).prompt('Say hello.')
    const events = await eventsOf(run)
    expect(ofType(events, 'providerRetry')).toHaveLength(1)
    expect(await run.text()).toBe('Hello, world.')
    expect(await requests()).toHaveLength(2)
  })
})

describe('a corrupted stream', () => {
  it('reports an error for any flipped bit in a Bedrock stream', async () => {
    for (let permille = 0; permille < 1000; permille += 13) {
      const { model, idle } = fixtureModel('bedrock', 'damaged', permille)
      const result = await new Agent({ model, retry: { maxRetries: 0, initialDelayMs: 1, backoffMultiplier: 1, maxDelayMs: 1 } }).prompt(
        'Say hello.',
      ).result
      expect([permille, result.status, result.error?.code]).toEqual([permille, 'error', 'network'])
      await idle()
    }
  })
})
