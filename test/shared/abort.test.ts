import { describe, expect, it } from 'vitest'
import { Agent } from '../../src/index.ts'
import { eventsOf, fixtureModel, ofType, wires } from '../harness/fixture-model.ts'

describe('abort', () => {
  it.each(wires)('closes the connection, ends once and keeps a valid history: %s', async (wire) => {
    const { model, idle } = fixtureModel(wire, 'hang')
    const agent = new Agent({ model })
    const run = agent.prompt('Say hello.')
    const events = await eventsOf(run, (event) => {
      if (event.type === 'messageUpdate') run.abort()
    })
    expect(ofType(events, 'agentEnd')).toMatchObject([{ status: 'aborted' }])
    expect(events.at(-1)?.type).toBe('agentEnd')
    expect(agent.isStreaming).toBe(false)
    await idle()

    const next = agent.with({ model: fixtureModel(wire, 'text').model })
    expect(await next.prompt('Again, please.').text()).toBe('Hello, world.')
  })

  it.each(wires)("stops on the caller's signal before the first byte: %s", async (wire) => {
    const { model, idle } = fixtureModel(wire, 'hang')
    const controller = new AbortController()
    const run = new Agent({ model }).prompt('Say hello.', { signal: controller.signal })
    controller.abort(new Error('changed my mind'))
    const events = await eventsOf(run)
    expect(ofType(events, 'agentEnd')).toMatchObject([{ status: 'aborted' }])
    expect(await run.result).toMatchObject({ status: 'aborted' })
    await idle()
  })
})
