import { expect, it } from 'vitest'
import { Agent } from '../../../src/index.ts'
import { anthropic } from '../../../src/providers/anthropic/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { add } from '../../support/play.ts'

/** Prompts, and aborts as soon as the model has written `until`. */
async function stopped(agent: Agent, until: string): Promise<void> {
  const run = agent.prompt('Tell me a story.')
  let text = ''
  run.subscribe((event) => {
    if (event.type !== 'messageUpdate' || event.delta.type !== 'text') return
    text += event.delta.delta
    if (text.includes(until)) run.abort()
  })
  expect((await run.result).status).toBe('aborted')
}

const story = {
  thinking: 'A fox?',
  text: ['Once upon a time', ' there was a fox'],
  toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }],
}

it('sends the partial text of an aborted response with the next prompt', async () => {
  const model = scripted([story, { text: 'that ran.' }])
  const agent = new Agent({ model, tools: [add] })
  await stopped(agent, 'time')
  expect((await agent.prompt('Go on.').result).text).toBe('that ran.')
  expect(model.provider.requests[1]?.messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', content: [{ type: 'text', text: 'Once upon a time' }] },
    { role: 'user', content: [{ type: 'text', text: 'Go on.' }] },
  ])
  expect(agent.messages[1]).toMatchObject({ stopReason: 'aborted', content: [{ type: 'thinking' }, { type: 'text' }] })
  // A history that grows: what was kept stays.
  await agent.prompt('And then?').result
  expect(model.provider.requests[2]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
})

it('omits the partial text when the run continues without a user message', async () => {
  const model = scripted([story, { text: 'A hen.' }, { text: 'ok' }])
  const agent = new Agent({ model, tools: [add] })
  await stopped(agent, 'time')
  await agent.continueLoop().result
  await agent.prompt('Go on.').result
  expect(model.provider.requests.slice(1).map(({ messages }) => messages.map(({ role }) => role))).toEqual([
    ['user'],
    ['user', 'assistant', 'user'],
  ])
  expect(JSON.stringify(model.provider.requests[2])).not.toContain('Once')
})

it('encodes the partial text in the Anthropic request', async () => {
  const agent = new Agent({ model: scripted([story]), tools: [add] })
  await stopped(agent, 'fox')
  agent.appendMessage({ role: 'user', content: 'Go on.' })
  const { config, provider } = anthropic('claude-test')
  const messages = agent.messages.filter((message) => message.role !== 'extension')
  const request = {
    model: config,
    systemPrompt: '',
    messages,
    tools: [],
    thinking: 'off' as const,
    cache: { type: 'disabled' as const },
  }
  expect(JSON.parse((await provider.encode(request)).body).messages).toMatchObject([
    { role: 'user' },
    { role: 'assistant', content: [{ type: 'text', text: 'Once upon a time there was a fox' }] },
    { role: 'user', content: [{ text: 'Go on.' }] },
  ])
})
