import { describe, expect, it } from 'vitest'
import { textOf } from '../../../../src/index.ts'
import { scripted } from '../../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../../src/tools.ts'
import { pageWorld } from './page-world.ts'

const locate = clientTool({ name: 'locate', description: 'Says where the page is', parameters: { type: 'object' } })
const said = (id: string, ...parts: object[]) => ({ id, role: 'user', parts: [{ type: 'text', text: id }, ...parts] })

/** Asks the page once, then says what it has heard. */
const model = () =>
  scripted(({ messages }) =>
    messages.length === 1
      ? { toolCalls: [{ id: 'call_1', name: 'locate', arguments: {} }] }
      : { text: messages.map(({ content }) => textOf(content)).join('|') },
  )

describe('messages between a response and the last prompt of an AI SDK client', () => {
  it.each([
    ['has the role assistant in its data', said('m2', { type: 'data-shown', data: { role: 'assistant' } })],
    ['has its role last', { metadata: { role: 'assistant' }, ...said('m2'), role: 'user' }],
    ['is a list', [{ role: 'assistant' }]],
  ])('keeps the result in the response if such a message %s', async (_name, between) => {
    const world = await pageWorld(() => ({ model: model(), tools: [locate] }))
    const ask = async (...messages: unknown[]) => (await world.post('/chat', { id: 's', trigger: 'submit-message', messages })).text()
    await ask(said('m1'))
    const part = { type: 'tool-locate', toolCallId: 'call_1', state: 'output-available', input: {}, output: 'Oslo' }
    const answer = { id: 'a1', role: 'assistant', parts: [{ type: 'step-start' }, part] }
    expect(await ask(said('m1'), answer, between, said('m3'))).toContain('Oslo|m3')
  })
})

it('finds the result in a response whose role contains escapes', async () => {
  const world = await pageWorld(() => ({ model: model(), tools: [locate] }))
  const part = { type: 'tool-locate', toolCallId: 'call_1', state: 'output-available', input: {}, output: 'Oslo' }
  const body = (...messages: object[]) => JSON.stringify({ id: 's', trigger: 'submit-message', messages })
  const ask = async (text: string) =>
    (await fetch(`${world.url}/chat`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text })).text()
  await ask(body(said('m1')))
  const whole = body(said('m1'), { id: 'a1', role: 'assistant', parts: [part] }, said('m3'))
  expect(await ask(whole.replace('"assistant"', String.raw`"\u0061ssistant"`))).toContain('Oslo|m3')
})
