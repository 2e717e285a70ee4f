import type { ChatCompletionMessageParam } from 'openai/resources'
import { describe, expect, it } from 'vitest'
import { defineTool, textOf } from '../../../../src/index.ts'
import type { Script } from '../../../../src/providers/scripted/index.ts'
import { clientTool } from '../../../../src/tools.ts'
import { served } from './served.ts'

const user: ChatCompletionMessageParam[] = [{ role: 'user', content: 'hi' }]
const clock = () =>
  defineTool({ name: 'clock', description: 'Tells the time.', parameters: { type: 'object', properties: {} }, execute: () => 'noon' })
const lookUp = {
  type: 'function' as const,
  function: {
    name: 'look_up',
    description: 'Finds.',
    parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  },
}

describe('chat completions', () => {
  it("returns the response after the agent's own tools ran", async () => {
    const usage = { input: 10, output: 5, reasoning: 2, cacheRead: 3, cacheWrite: 1 }
    const { client } = served(
      [
        { thinking: 'Hm.', text: 'Let me look.', toolCalls: [{ name: 'clock', arguments: {} }], usage },
        { text: 'It is noon.', usage },
      ],
      { tools: [clock()] },
    )
    const { data } = await client.models.list()
    expect(data.map(({ id, object }) => [id, object])).toEqual([['helper', 'model']])
    const completion = await client.chat.completions.create({ model: 'helper', messages: user })
    const [choice] = completion.choices
    expect([choice?.message.content, choice?.finish_reason, choice?.message.tool_calls]).toEqual([
      'Let me look.\n\nIt is noon.',
      'stop',
      undefined,
    ])
    expect(choice?.message).toMatchObject({ reasoning_content: 'Hm.' })
    expect(completion.usage).toEqual({
      prompt_tokens: 28,
      completion_tokens: 10,
      total_tokens: 38,
      prompt_tokens_details: { cached_tokens: 6 },
      completion_tokens_details: { reasoning_tokens: 4 },
    })
  })

  it("streams the agent's response", async () => {
    const script: Script = [{ text: 'Let me look.', toolCalls: [{ name: 'clock', arguments: {} }] }, { text: 'It is noon.' }]
    const { client } = served(script, { tools: [clock()] })
    const stream = client.chat.completions.stream({ model: 'helper', messages: user, stream_options: { include_usage: true } })
    const { choices, usage } = await stream.finalChatCompletion()
    expect([choices[0]?.message.content, choices[0]?.finish_reason, typeof usage?.total_tokens]).toEqual([
      'Let me look.\n\nIt is noon.',
      'stop',
      'number',
    ])
  })

  it.each([false, true])('returns calls of client tools and accepts their results (stream: %s)', async (isStreamed) => {
    const heard: unknown[] = []
    const { client } = served(
      ({ messages }) => {
        heard.push(messages.map(({ role }) => role))
        if (messages.at(-1)?.role === 'toolResult') return { text: 'Found.' }
        return {
          toolCalls: [
            { id: 'own', name: 'clock', arguments: {} },
            { id: 'theirs', name: 'look_up', arguments: { word: 'phi' } },
          ],
        }
      },
      { tools: [clock()] },
    )
    const ask = async (messages: ChatCompletionMessageParam[]) =>
      isStreamed
        ? client.chat.completions.stream({ model: 'helper', messages, tools: [lookUp] }).finalChatCompletion()
        : client.chat.completions.create({ model: 'helper', messages, tools: [lookUp] })
    const first = await ask(user)
    const message = first.choices[0]?.message
    expect(first.choices[0]?.finish_reason).toBe('tool_calls')
    expect(message?.tool_calls).toMatchObject([
      { id: 'theirs', type: 'function', function: { name: 'look_up', arguments: '{"word":"phi"}' } },
    ])
    if (message === undefined) throw new Error('no message')
    const second = await ask([...user, message, { role: 'tool', tool_call_id: 'theirs', content: 'a letter' }])
    expect(second.choices[0]?.message.content).toBe('Found.')
    expect(heard).toEqual([['user'], ['user', 'assistant', 'toolResult']])
  })

  it('waits for declared client tools in a session and continues with the result', async () => {
    const setTheme = clientTool({ name: 'set_theme', description: 'Sets it.', parameters: { type: 'object', properties: {} } })
    const { client } = served(
      ({ messages }) => {
        const last = messages.at(-1)
        return last?.role === 'toolResult' ? { text: textOf(last.content) } : { toolCalls: [{ id: 'a', name: 'set_theme', arguments: {} }] }
      },
      { tools: [setTheme] },
    )
    for (const options of [{}, { headers: { 'x-session-id': 's' } }]) {
      const first = await client.chat.completions.create({ model: 'helper', messages: user }, options)
      const message = first.choices[0]?.message
      expect([first.choices[0]?.finish_reason, message?.tool_calls?.length]).toEqual(['tool_calls', 1])
      if (message === undefined) throw new Error('no message')
      const messages: ChatCompletionMessageParam[] = [...user, message, { role: 'tool', tool_call_id: 'a', content: 'dark' }]
      const second = await client.chat.completions.create({ model: 'helper', messages }, options)
      expect(second.choices[0]?.message.content).toBe('dark')
    }
  })
})
