import { describe, expect, it } from 'vitest'
import type { AssistantMessage, Message } from '../../../src/contract/message/message.ts'
import type { ThinkingField } from '../../../src/contract/model/model-config.ts'
import { openai, openaiCompatible, openrouter } from '../../../src/providers/openai.ts'
import type { Model } from '../../../src/types/model/model.ts'
import { answering, sse } from '../bytes.ts'
import { outcomeOf, plainRequest, result, sentBody, user } from '../model-call.ts'

const chunk = (delta: object, finish_reason: string | null = null) => ({ id: 'c', choices: [{ index: 0, delta, finish_reason }] })
const call = chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'read', arguments: '{}' } }] })
const called = [call, chunk({}, 'tool_calls'), '[DONE]']
const told = (text: string) => [chunk({ content: text }), chunk({}, 'stop'), '[DONE]']
type Options = Parameters<typeof openaiCompatible>[1]
type Sent = Record<string, unknown>

async function answerOf(model: (send: typeof fetch) => Model, ...chunks: unknown[]): Promise<AssistantMessage> {
  const { provider, config } = model(answering([sse(...chunks)]))
  const { message, error } = await outcomeOf(provider, plainRequest(config))
  if (message === undefined) throw error
  return message
}

/** The response as the next request to `model` has it. */
async function echoed(model: Model, answer: AssistantMessage): Promise<Sent | undefined> {
  const results = answer.content.flatMap((block) => (block.type === 'toolCall' ? [result(block.id)] : []))
  const messages: Message[] = [user('go'), answer, ...(results.length > 0 ? results : [user('more')])]
  const body = await sentBody<{ messages: Sent[] }>(model.provider, plainRequest(model.config, { messages }))
  return body.messages.find(({ role }) => role === 'assistant')
}

const at =
  (options: Options, id = 'm') =>
  (send: typeof fetch): Model =>
    openaiCompatible(id, { apiKey: 'k', ...options, fetch: send })
const gateway: Options = { baseUrl: 'https://gateway.test/v1' }

describe('compat.thinkingField: received', () => {
  it.each(['reasoning', 'reasoning_content', 'reasoning_text'])(
    'sends reasoning back to any base URL in its original field: %s',
    async (field) => {
      const answer = await answerOf(at(gateway), chunk({ [field]: 'I ' }), chunk({ [field]: 'read.' }), ...called)
      const { role: _role, content: _content, tool_calls: _calls, ...beside } = (await echoed(at(gateway)(fetch), answer)) ?? {}
      expect(beside).toEqual({ [field]: 'I read.' })
    },
  )

  it.each<[string, Options, string]>([
    ['Cerebras by its base URL', { baseUrl: 'https://api.cerebras.ai/v1' }, 'reasoning'],
    ['Groq by its base URL', { baseUrl: 'https://api.groq.com/openai/v1' }, 'reasoning'],
    ['xAI', { backend: 'xai' }, 'reasoning_content'],
    ['OpenRouter, without details', { backend: 'openrouter' }, 'reasoning'],
    ['a backend that changed its field', { backend: 'fireworks' }, 'reasoning'],
  ])('sends reasoning back in its original field: %s', async (_name, options, field) => {
    const answer = await answerOf(at(options), chunk({ [field]: 'I read.' }), ...called)
    const { role: _role, content: _content, tool_calls: _calls, ...beside } = (await echoed(at(options)(fetch), answer)) ?? {}
    expect(beside).toEqual({ [field]: 'I read.' })
  })

  it('sends each reasoning block back in its own field', async () => {
    const deltas = [chunk({ reasoning: 'One.' }), chunk({ content: 'So.' }), chunk({ reasoning_content: 'Two.' })]
    const answer = await answerOf(at(gateway), ...deltas, ...called)
    expect(await echoed(at(gateway)(fetch), answer)).toMatchObject({ reasoning: 'One.', reasoning_content: 'Two.', content: 'So.' })
  })

  it.each<[string, Options]>([
    ['the preset', { backend: 'mistral' }],
    ['its base URL', { baseUrl: 'https://api.mistral.ai/v1' }],
    ['a gateway', gateway],
  ])('sends Mistral thinking back as content parts: %s', async (_name, options) => {
    const part = (text: string) => chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] })
    const answer = await answerOf(at(options), part('I '), part('add.'), chunk({ content: [{ type: 'text', text: 'So.' }] }), ...called)
    const { role: _role, tool_calls: _calls, ...rest } = (await echoed(at(options)(fetch), answer)) ?? {}
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'I add.' }] }
    expect(rest).toEqual({ content: [thinking, { type: 'text', text: 'So.' }] })
  })

  it('sends thinking parts back with a response without calls', async () => {
    const part = chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] })
    const answer = await answerOf(at(gateway), part, ...told('Hi'))
    expect(await echoed(at(gateway)(fetch), answer)).toMatchObject({ content: [{ type: 'thinking' }, { type: 'text', text: 'Hi' }] })
  })

  it.each(['mistral', undefined] as const)('omits a blank thinking part: backend %s', async (backend) => {
    const options: Options = backend === undefined ? gateway : { backend }
    const part = chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: ' \n' }] }] })
    const answer = await answerOf(at(options), part, ...called)
    expect(await echoed(at(options)(fetch), answer)).toMatchObject({ content: null, tool_calls: [{}] })
  })

  it('sends reasoning to no other model or provider', async () => {
    const answer = await answerOf(at(gateway), chunk({ reasoning: 'I read.' }), ...called)
    for (const other of [at(gateway, 'n')(fetch), openai('gpt-6-sol'), openrouter('a/m'), at({ backend: 'groq' })(fetch)])
      expect(JSON.stringify(await echoed(other, answer))).not.toContain('I read.')
  })

  it('sends reasoning of an older record in the field of its backend', async () => {
    const { provider, config } = at({ backend: 'groq' })(fetch)
    const answer = await answerOf(at({ backend: 'groq' }), chunk({ reasoning: 'Hm.' }), ...called)
    const content = answer.content.map(({ providerState: _state, ...block }) => block) as AssistantMessage['content'] // the same blocks
    expect(await echoed({ provider, config }, { ...answer, content })).toMatchObject({ reasoning: 'Hm.' })
  })
})

describe('compat.thinkingField', () => {
  const sent = async (thinkingField: ThinkingField) => {
    const options: Options = { ...gateway, compat: { thinkingField } }
    const answer = await answerOf(
      at(options),
      chunk({ reasoning: 'Hm.', reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }] }),
      ...called,
    )
    const { role: _role, tool_calls: _calls, ...rest } = (await echoed(at(options)(fetch), answer)) ?? {}
    return rest
  }

  it.each([
    ['reasoning', { content: null, reasoning: 'Hm.' }],
    ['reasoningContent', { content: null, reasoning_content: 'Hm.' }],
    ['reasoningText', { content: null, reasoning_text: 'Hm.' }],
    ['parts', { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }] }],
    ['thinkTags', { content: '<think>\nHm.\n</think>\n\n' }],
    ['none', { content: null }],
  ] as const)('sends all reasoning back as %s', async (word, expected) => {
    expect(await sent(word)).toEqual(expected)
  })
})

describe('MiniMax', () => {
  const minimax = at({ backend: 'minimax' }, 'MiniMax-M2.5')
  const written = '<think>\nI add <b>.\n</think>\n\nIt is 2.'

  it('reads a leading <think> as reasoning at any chunk boundary', async () => {
    for (let width = 1; width <= written.length; width++) {
      const pieces = written.match(new RegExp(`[^]{1,${width}}`, 'g')) ?? []
      const { content } = await answerOf(minimax, ...pieces.map((content) => chunk({ content })), chunk({}, 'stop'), '[DONE]')
      expect(content).toMatchObject([
        { type: 'thinking', thinking: 'I add <b>.' },
        { type: 'text', text: 'It is 2.' },
      ])
    }
  })

  it.each([written, '<think>I add.</think>It is 2.', '\n<think>\n\nI add.</think>\nIt is 2.'])(
    'sends the text back unchanged: %j',
    async (text) => {
      const answer = await answerOf(minimax, ...told(text))
      expect(answer.content.map(({ type }) => type)).toEqual(['thinking', 'text'])
      expect(await echoed(minimax(fetch), answer)).toEqual({ role: 'assistant', content: text })
    },
  )

  it('sends reasoning before a call back in the text', async () => {
    const answer = await answerOf(minimax, chunk({ content: '<think>\nI read.\n</think>\n\n' }), ...called)
    expect(answer.content.map(({ type }) => type)).toEqual(['thinking', 'toolCall'])
    expect(await echoed(minimax(fetch), answer)).toMatchObject({ content: '<think>\nI read.\n</think>\n\n', tool_calls: [{ id: 'a' }] })
  })

  it('keeps truncated reasoning', async () => {
    const { content } = await answerOf(minimax, chunk({ content: '<think>\nI ad</thi' }), chunk({}, 'length'), '[DONE]')
    expect(content).toEqual([expect.objectContaining({ type: 'thinking', thinking: 'I ad</thi' })])
  })

  it.each([
    ['in the middle', 'So: <think>Hm.</think>'],
    ['with another name', '<thinking>Hm.</thinking> Hi'],
    ['that never completes', '<thin'],
    ['after an empty one', '<think>\n</think>\n\nI said <think>Hm.</think>'],
  ])('leaves a tag in the text: %s', async (_name, text) => {
    const { content } = await answerOf(minimax, ...told(text))
    expect(content).toEqual([{ type: 'text', text: text.replace('<think>\n</think>\n\n', '') }])
  })

  it.each(['MiniMax-M9', 'minimaxai/minimax-m3'])('behaves the same with any base URL and for newer models: %s', async (id) => {
    const { content } = await answerOf(at(gateway, id), ...told(written))
    expect(content.map(({ type }) => type)).toEqual(['thinking', 'text'])
  })

  it('parses tags in no other family unless configured', async () => {
    expect((await answerOf(at(gateway), ...told(written))).content).toEqual([{ type: 'text', text: written }])
    const options: Options = { ...gateway, compat: { thinkingField: 'thinkTags' } }
    expect((await answerOf(at(options), ...told(written))).content).toMatchObject([{ type: 'thinking' }, { type: 'text' }])
  })
})

describe('openaiCompatible by the base URL of a known backend', () => {
  it.each([
    ['https://api.mistral.ai/v1', 'mistral'],
    ['https://api.cerebras.ai/v1/', 'cerebras'],
    ['https://api.groq.com/openai/v1', 'groq'],
    ['https://openrouter.ai/api/v1', 'openrouter'],
    ['https://api.deepseek.com', 'deepseek'],
  ] as const)('sends only what the backend accepts: %s', async (baseUrl, backend) => {
    const history: Message[] = [
      user('go'),
      {
        ...(await answerOf((send) => openai('gpt-6-sol', { fetch: send, apiKey: 'k' }), ...called)),
        content: [{ type: 'toolCall', id: 'call_1234567890', name: 'read', arguments: {} }],
      },
      result('call_1234567890'),
      user('next'),
    ]
    const settings = { messages: history, seed: 1, thinking: 'high', maxTokens: 100 } as const
    const bodyOf = ({ provider, config }: Model) => sentBody(provider, plainRequest(config, settings))
    const known = await bodyOf(at({ backend, reasoning: true })(fetch))
    expect(await bodyOf(at({ baseUrl, reasoning: true })(fetch))).toEqual(known)
  })
})
