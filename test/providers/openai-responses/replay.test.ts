import { describe, expect, it } from 'vitest'
import type { AssistantMessage, Message } from '../../../src/contract/message/message.ts'
import { azure } from '../../../src/providers/azure/index.ts'
import { openaiResponses } from '../../../src/providers/openai-responses/index.ts'
import { answering, fixture } from '../bytes.ts'
import { inputFor, result, streamed, user } from './call.ts'

async function recorded(name: string): Promise<AssistantMessage> {
  const { message } = await streamed(answering([fixture(`openai-responses/${name}.sse`)]))
  if (message === undefined) throw new Error(`${name} has no answer`)
  // As it comes back from storage.
  return JSON.parse(JSON.stringify(message))
}

const types = async (messages: readonly Message[], model = openaiResponses('gpt-test')) =>
  (await inputFor(messages, model)).map((item) => `${item.type ?? item.role}${item.id === undefined ? '' : ` ${item.id}`}`)

/** The items of the answer inside the last event of a recording. */
function outputOf(name: string): Record<string, unknown>[] {
  const text = new TextDecoder().decode(fixture(`openai-responses/${name}.sse`))
  const line = text.split('\n').findLast((each) => each.startsWith('data: {'))
  return JSON.parse(line?.slice(6) ?? '{}').response.output
}

const history = async (name: string) => [user('a'), await recorded(name), result('call_1'), result('call_2'), user('b')]

describe('history of the same model', () => {
  it.each(['reasoning', 'parallel-tools', 'empty-arguments', 'late-encryption', 'raw-reasoning'])(
    'sends a response back with its exact reasoning: %s',
    async (name) => {
      const input = await inputFor(await history(name))
      const expected = outputOf(name).map((item) => {
        if (item.type === 'reasoning') return item
        if (item.type === 'function_call') {
          const { status: _, ...call } = item
          return call
        }
        const content = (item.content as { text: string }[]).map(({ text }) => ({ type: 'output_text', text, annotations: [] }))
        return { ...item, content }
      })
      expect(input.slice(1, 1 + expected.length)).toEqual(expected)
      const sent = JSON.stringify(input)
      for (const item of outputOf(name)) if (item.type === 'reasoning') expect(sent).toContain(JSON.stringify(item))
    },
  )

  it('sends reasoning back with the ids that the provider requires', async () => {
    const [question, recordedAnswer, ...rest] = await history('renamed-ids')
    if (question === undefined || recordedAnswer === undefined) throw new Error('no history')
    expect(await types([question, recordedAnswer, ...rest])).toEqual([
      'user',
      expect.stringMatching(/^reasoning opaque/),
      'function_call',
      'function_call_output',
      'user',
    ])
  })

  it('sends hosted tool items back with their reasoning', async () => {
    expect(await types(await history('server-tools'))).toEqual(['user', 'reasoning rs_1', 'web_search_call ws_1', 'message msg_1', 'user'])
  })

  it.each([
    ['the reasoning', 0, ['user', 'assistant', 'function_call', 'function_call', 'function_call_output', 'function_call_output', 'user']],
    ['the item after the reasoning', 1, ['user', 'function_call', 'function_call', 'function_call_output', 'function_call_output', 'user']],
  ] as const)('sends neither reasoning nor ids if %s was removed', async (_what, index, expected) => {
    const messages = await history('parallel-tools')
    const edited = messages.map((message) =>
      message.role === 'assistant' ? { ...message, content: message.content.toSpliced(index, 1) } : message,
    )
    expect(await types(edited)).toEqual(expected)
  })

  it('sends the rest unchanged if other content was removed', async () => {
    const messages = await history('parallel-tools')
    const edited = messages.map((message) =>
      message.role === 'assistant' ? { ...message, content: message.content.toSpliced(2, 1) } : message,
    )
    expect(await types(edited)).toEqual(['user', 'reasoning rs_1', 'message msg_1', 'function_call fc_2', 'function_call_output', 'user'])
  })
})

describe('history of another model', () => {
  const others = [
    openaiResponses('gpt-other'),
    openaiResponses('gpt-test', { provider: 'proxy' }),
    azure('gpt-test', { resource: 'r' }),
    azure('gpt-test', { resource: 'r', provider: 'openai' }),
  ]
  it.each(others.map((model) => [`${model.config.provider} ${model.config.id}`, model] as const))(
    'sends only text and calls to another model: %s',
    async (_name, model) => {
      const messages = await history('parallel-tools')
      const expected = ['user', 'assistant', 'function_call', 'function_call', 'function_call_output', 'function_call_output', 'user']
      expect(await types(messages, model)).toEqual(expected)
      const sent = JSON.stringify(await inputFor(messages, model))
      for (const secret of ['ZW5jcnlwdGVk', 'Two things', 'rs_1', 'msg_1', 'fc_1', 'commentary']) expect(sent).not.toContain(secret)
    },
  )
})
