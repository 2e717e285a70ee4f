import { describe, expect, it } from 'vitest'
import { textOf } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../../src/tools.ts'
import { pageWorld } from './page-world.ts'

const ask = clientTool({ name: 'ask', description: 'Asks the person', parameters: { type: 'object' } })

/** Asks the page twice, under the same id, then says what it has heard. */
const shop = () =>
  pageWorld(() => ({
    tools: [ask],
    model: scripted(({ messages }) => {
      const results = messages.filter(({ role }) => role === 'toolResult')
      if (results.length < 2) return { toolCalls: [{ id: 'call_0', name: 'ask', arguments: {} }] }
      return { text: `heard ${results.map(({ content }) => textOf(content)).join('|')}` }
    }),
  }))

describe('a resubmitted result for a tool call id that the model reuses', () => {
  it('leaves the second call pending for a chat', async () => {
    const world = await shop()
    const user = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }
    const ask = async (...messages: object[]) => (await world.post('/chat', { id: 's', trigger: 'submit-message', messages })).text()
    await ask(user)
    const [, answer] = await world.stored()
    const step = (output: string) => [
      { type: 'step-start' },
      { type: 'tool-ask', toolCallId: 'call_0', state: 'output-available', input: {}, output },
    ]
    const first = { id: answer?.id, role: 'assistant', parts: step('one') }
    await ask(user, first)
    await ask(user, first)
    expect((await world.json('/sessions/s/client-calls')).clientCalls).toHaveLength(1)
    expect(await ask(user, { ...first, parts: [...step('one'), ...step('two')] })).toContain('heard one|two')
  })

  it('leaves the second call pending for an AG-UI client', async () => {
    const world = await shop()
    const user = { id: 'm1', role: 'user', content: 'go' }
    const shared = { threadId: 's', tools: [], context: [], state: {}, forwardedProps: {} }
    const ask = async (...messages: object[]) => (await world.post('/agui', { ...shared, runId: crypto.randomUUID(), messages })).text()
    const result = (toolCallId: string, content: string) => ({ id: `t-${toolCallId}`, role: 'tool', toolCallId, content })
    await ask(user)
    await ask(user, result('call_0', 'one'))
    await ask(user, result('call_0', 'one'))
    expect((await world.json('/sessions/s/client-calls')).clientCalls).toHaveLength(1)
    expect(await ask(user, result('call_0', 'one'), result('call_0#2', 'two'))).toContain('heard one|two')
  })
})
