import { describe, expect, it } from 'vitest'
import type { AssistantMessage } from '../../../src/contract/message/message.ts'
import { type BackendName, openai, openaiCompatible } from '../../../src/providers/openai.ts'
import type { Model } from '../../../src/types/model/model.ts'
import { answering, sse } from '../bytes.ts'
import { outcomeOf, plainRequest, result, sentBody, user } from '../model-call.ts'

const gemini = { baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai', provider: 'gemini' }
const extra = { google: { thought_signature: 'c2ln' } }
const chunk = (delta: object, finish_reason: string | null = null) => ({ id: 'c', choices: [{ index: 0, delta, finish_reason }] })
const calling = (...calls: object[]) => chunk({ tool_calls: calls })
const done = [chunk({}, 'tool_calls'), '[DONE]']

async function answerOf(model: (send: typeof fetch) => Model, ...chunks: unknown[]): Promise<AssistantMessage> {
  const { provider, config } = model(answering([sse(...chunks)]))
  const { message, error } = await outcomeOf(provider, plainRequest(config))
  if (message === undefined) throw error
  return message
}

/** The answer as the next request to `model` has it. */
async function echoed(model: Model, answer: AssistantMessage): Promise<Record<string, unknown> | undefined> {
  const results = answer.content.flatMap((block) => (block.type === 'toolCall' ? [result(block.id)] : []))
  const messages = [user('go'), answer, ...(results.length > 0 ? results : [user('more')])]
  const body = await sentBody<{ messages: Record<string, unknown>[] }>(model.provider, plainRequest(model.config, { messages }))
  return body.messages.find(({ role }) => role === 'assistant')
}

describe('opaque fields of a tool call', () => {
  const at = (options: object) => (send: typeof fetch) => openaiCompatible('gemini-3', { ...gemini, ...options, fetch: send })

  it('sends opaque fields back to their provider on the same call', async () => {
    const answer = await answerOf(
      at({}),
      calling({ index: 0, id: 'a', type: 'function', function: { name: 'read', arguments: '{}' }, extra_content: extra }),
      calling({ index: 1, id: 'b', type: 'function', function: { name: 'read', arguments: '{"x":' } }),
      calling({ index: 1, function: { arguments: '1}' }, vendor: [1] }),
      ...done,
    )
    expect((await echoed(at({})(fetch), answer))?.tool_calls).toEqual([
      { extra_content: extra, id: 'a', type: 'function', function: { name: 'read', arguments: '{}' } },
      { vendor: [1], id: 'b', type: 'function', function: { name: 'read', arguments: '{"x":1}' } },
    ])
  })

  it('omits opaque fields for other providers', async () => {
    const answer = await answerOf(at({}), calling({ id: 'a', function: { name: 'read', arguments: '{}' }, extra_content: extra }), ...done)
    for (const other of [openai('gpt-6-sol'), openaiCompatible('gemini-4', gemini), at({ provider: 'other' })(fetch)]) {
      expect(JSON.stringify(await echoed(other, answer))).not.toContain('c2ln')
    }
  })
})

describe('reasoning of a backend', () => {
  const fields: [BackendName | undefined, string][] = [
    [undefined, 'reasoning_content'],
    ['deepseek', 'reasoning_content'],
    ['fireworks', 'reasoning_content'],
    ['groq', 'reasoning'],
    ['kimi', 'reasoning_content'],
    ['llamacpp', 'reasoning_content'],
    ['lmstudio', 'reasoning_content'],
    ['minimax', 'reasoning_content'],
    ['ollama', 'reasoning'],
    ['qwen', 'reasoning_content'],
    ['together', 'reasoning'],
    ['vllm', 'reasoning'],
    ['zai', 'reasoning_content'],
  ]
  const at = (backend: BackendName | undefined) => (send: typeof fetch) =>
    openaiCompatible('m', { ...(backend ? { backend } : { baseUrl: 'http://127.0.0.1:9' }), fetch: send, apiKey: 'k' })

  it.each(fields)('sends the reasoning of %s back in a tool loop, as %s, with any thinking setting', async (backend, field) => {
    const call = calling({ index: 0, id: 'a', function: { name: 'read', arguments: '{}' } })
    const answer = await answerOf(at(backend), chunk({ [field]: 'I read.' }), call, ...done)
    expect(await echoed(at(backend)(fetch), answer)).toMatchObject({ [field]: 'I read.', tool_calls: [{ id: 'a' }] })
    expect(JSON.stringify(await echoed(openaiCompatible('other', { baseUrl: 'http://127.0.0.1:9' }), answer))).not.toContain('I read.')
  })

  it('omits reasoning after a final response if the backend needs none', async () => {
    const answer = await answerOf(at('vllm'), chunk({ reasoning: 'I say.' }), chunk({ content: 'Hi' }, 'stop'), '[DONE]')
    expect(await echoed(at('vllm')(fetch), answer)).toEqual({ role: 'assistant', content: 'Hi' })
  })
})

describe('a call with repeated arguments', () => {
  const at = (send: typeof fetch) => openai('m', { fetch: send })
  const said = (text: string) => calling({ index: 0, id: 'a', function: { name: 'read', arguments: text } })

  it.each([
    ['complete', ['{"q":1}', '{"q":1}'], { q: 1 }],
    ['in fragments, then complete', ['{"q"', ':1}', '{"q":1}'], { q: 1 }],
    ['in equal fragments', ['{"q":', '{"q":', '1}}'], { q: { q: 1 } }],
  ])('reads repeated arguments once: %s', async (_name, pieces, expected) => {
    const { content } = await answerOf(at, ...pieces.map(said), ...done)
    expect(content).toMatchObject([{ type: 'toolCall', id: 'a', arguments: expected }])
    expect(content[0]).not.toHaveProperty('invalidArguments')
  })
})

describe('a fragment with an unknown index and no id or name', () => {
  const at = (send: typeof fetch) => openai('m', { fetch: send })
  const named = (index: number, id: string, text = '') => ({ index, id, function: { name: 'read', arguments: text } })
  const loose = (index: number, text: string) => ({ index, function: { arguments: text } })

  it.each([
    ['one call', [named(0, 'a'), loose(1, '{"q":'), loose(2, '1}')], [{ q: 1 }]],
    ['two calls', [named(0, 'a', '{"q":1}'), named(1, 'b'), loose(2, '{"q":2}')], [{ q: 1 }, { q: 2 }]],
    ['one call, then another with the same index', [named(0, 'a'), loose(1, '{"q":1}'), named(1, 'b', '{"q":2}')], [{ q: 1 }, { q: 2 }]],
  ])('appends a fragment with an unknown index to the last call: %s', async (_name, fragments, expected) => {
    const { content } = await answerOf(at, ...fragments.map((fragment) => calling(fragment)), ...done)
    expect(content.map((block) => block.type === 'toolCall' && [block.arguments, block.invalidArguments])).toEqual(
      expected.map((args) => [args, undefined]),
    )
  })
})
