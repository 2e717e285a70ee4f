import { expect, it } from 'vitest'
import { Meter } from '../../adapters/node/cli/repl/meter.ts'
import { promptTokens } from '../../playground/src/state/log/prompt-tokens.ts'
import { Agent, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { reduce, restoredState } from '../../src/store.ts'

it('counts only the last call of a paused response as context', async () => {
  const first = { text: 'I look. ', stopReason: 'paused', usage: { input: 100, output: 10 } } as const
  const session = memorySessionStore()
  const agent = new Agent({ model: scripted([first, { text: 'It is so.', usage: { input: 130, output: 20 } }]), session })
  const meter = new Meter()
  meter.begin(agent, [])
  let state = restoredState([])
  for await (const event of agent.prompt('Is it so?')) {
    meter.event(event)
    state = reduce(state, event)
  }
  expect(state.usage).toMatchObject({ input: 230, output: 30 })
  expect([promptTokens(state), meter.context]).toEqual([150, 150])
  meter.begin(agent, (await session.load(agent.sessionId)).loops)
  expect([promptTokens(restoredState(agent.messages)), meter.context]).toEqual([150, 150])
  expect(meter.usage).toMatchObject({ input: 230, output: 30 })
})
