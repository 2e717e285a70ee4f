import { describe, expect, it } from 'vitest'
import type { Usage } from '../../../src/contract/model/usage.ts'
import { answering, sse } from '../bytes.ts'
import { answerOf, chunk, play, playBytes } from './call.ts'

const usage: Usage = { input: 10, output: 9, reasoning: 3, cacheRead: 8, cacheWrite: 2, totalTokens: 29 }

const stateOf = (payload: object) => ({ api: 'openAiCompletions', model: 'm', payload })

describe('Chat Completions decoder', () => {
  it('reads text and usage', async () => {
    const { message, streamed, starts } = await playBytes(answerOf('text'))
    expect(message).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'Grüße, Welt 😀!' }],
      stopReason: 'stop',
      model: 'm',
      provider: 'openai-compatible',
      responseId: 'c1',
      usage,
      timestamp: 0,
    })
    expect(streamed).toEqual(['Grüße, Welt 😀!'])
    expect(starts).toBe(1)
  })

  it('ignores a chunk, a delta or a message without fields', async () => {
    const { message, error } = await playBytes(
      sse({}, chunk({}), chunk({ content: 'Hi' }), { choices: [{ index: 0, delta: {}, message: {} }] }, chunk({}, 'stop'), '[DONE]'),
    )
    expect(error).toBeUndefined()
    expect(message).toMatchObject({ content: [{ type: 'text', text: 'Hi' }], stopReason: 'stop' })
  })

  it('reads CRLF, comments, mixed usage and an unterminated last frame', async () => {
    const { message } = await playBytes(answerOf('text-crlf'))
    expect(message?.content).toEqual([{ type: 'text', text: 'Hello 日本' }])
    expect(message?.usage).toMatchObject({ input: 4, output: 2, totalTokens: 6 })
  })

  it('reads DeepSeek reasoning and its cache counts', async () => {
    const { message } = await playBytes(answerOf('reasoning'))
    expect(message?.content).toEqual([
      { type: 'thinking', thinking: 'Let me think…', providerState: stateOf({ field: 'reasoningContent' }) },
      { type: 'text', text: 'Done' },
    ])
    expect(message?.usage).toMatchObject({ input: 7, cacheRead: 5, output: 7, totalTokens: 19 })
  })

  it('keeps interleaved parallel calls separate', async () => {
    const { message, streamed } = await playBytes(answerOf('parallel-tools'))
    expect(message?.content).toEqual([
      { type: 'text', text: 'Both.' },
      { type: 'toolCall', id: 'call_a', name: 'read', arguments: { path: 'é.ts' } },
      { type: 'toolCall', id: 'call_b', name: 'list', arguments: { depth: 2 } },
    ])
    expect(message?.stopReason).toBe('toolUse')
    expect(streamed).toEqual(['Both.', '{"path":"é.ts"}', '{"depth":2}'])
  })

  it('treats empty arguments as none, and calls with "stop" as tool use', async () => {
    const { message } = await playBytes(answerOf('empty-arguments'))
    expect(message?.content).toEqual([
      { type: 'toolCall', id: 'call_e', name: 'ping', arguments: {} },
      { type: 'toolCall', id: 'call_f', name: 'pong', arguments: {} },
    ])
    expect(message?.stopReason).toBe('toolUse')
  })

  it('keeps a refusal and stops with guardRail', async () => {
    const { message } = await playBytes(answerOf('refusal'))
    expect(message).toMatchObject({ content: [], refusal: "I can't do that.", stopReason: 'guardRail' })
  })

  it('marks a call truncated by the length limit, also without [DONE]', async () => {
    const { message } = await playBytes(answerOf('length'))
    expect(message?.stopReason).toBe('length')
    expect(message?.content.slice(1)).toEqual([
      { type: 'toolCall', id: 'call_1', name: 'one', arguments: { a: 1 } },
      { type: 'toolCall', id: 'call_2', name: 'two', arguments: {}, invalidArguments: '{"b":"cut he' },
    ])
  })

  it('merges reasoning_details, shows their text once and keeps them for the next request', async () => {
    const { message } = await playBytes(answerOf('openrouter'))
    const reasoningDetails = [
      { type: 'reasoning.text', text: 'Hmm.', signature: 'sig==', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.encrypted', data: 'ENC', id: 'rs_1', format: 'openai-responses-v1', index: 1 },
    ]
    expect(message?.content).toEqual([
      { type: 'thinking', thinking: 'Hmm.', providerState: stateOf({ field: 'reasoning', reasoningDetails }) },
      { type: 'text', text: 'Yes.' },
    ])
    expect(message?.usage).toEqual(usage)
  })

  it('shows reasoning that arrives only in details, and summaries', async () => {
    const details = (entry: object) => chunk({ content: '', reasoning_details: [entry] })
    const { message } = await playBytes(
      sse(
        details({ type: 'reasoning.summary', summary: 'In ', index: 0 }),
        details({ type: 'reasoning.summary', summary: 'short', index: 0 }),
        chunk({ content: '!' }, 'stop'),
      ),
    )
    expect(message?.content[0]).toMatchObject({ type: 'thinking', thinking: 'In short' })
  })

  it('reads content parts with thinking, and arguments sent as an object', async () => {
    const { message } = await playBytes(answerOf('mistral'))
    expect(message?.content).toEqual([
      { type: 'thinking', thinking: 'Two plus two is four.', providerState: stateOf({ field: 'parts' }) },
      { type: 'text', text: '4' },
      { type: 'toolCall', id: 'abcdefghi', name: 'note', arguments: { n: 4 } },
    ])
  })
})

describe('irregular Chat Completions streams', () => {
  const done = chunk({}, 'tool_calls')
  const call = (fields: object) => chunk({ tool_calls: [fields] })
  const calls = async (...chunks: object[]) => {
    const { message } = await playBytes(sse(...chunks, done))
    return message?.content.flatMap((block) => (block.type === 'toolCall' ? [[block.id, block.name, block.arguments]] : []))
  }

  it('accepts a tool call at any index', async () => {
    expect(await calls(call({ index: 1, id: 'x', function: { name: 'f', arguments: '{}' } }))).toEqual([['x', 'f', {}]])
  })

  it('starts a new call for a new id at a used index', async () => {
    const found = await calls(
      call({ index: 0, id: 'x', function: { name: 'f', arguments: '{"a":1}' } }),
      call({ index: 0, id: 'y', function: { name: 'f', arguments: '{"a":' } }),
      call({ index: 0, function: { arguments: '2}' } }),
    )
    expect(found).toEqual([
      ['x', 'f', { a: 1 }],
      ['y', 'f', { a: 2 }],
    ])
  })

  it('treats repeated ids and names as the same call', async () => {
    const found = await calls(
      call({ index: 0, id: 'x', function: { name: 'f', arguments: '{"a"' } }),
      call({ index: 0, id: 'x', function: { name: 'f', arguments: ':1}' } }),
    )
    expect(found).toEqual([['x', 'f', { a: 1 }]])
  })

  it('separates calls without an index by name and id', async () => {
    const found = await calls(
      call({ id: 'x', function: { name: 'f', arguments: '{"a"' } }),
      call({ function: { arguments: ':1}' } }),
      call({ id: 'y', function: { name: 'g', arguments: '' } }),
      call({ id: 'y', function: { arguments: '{"b":2}' } }),
    )
    expect(found).toEqual([
      ['x', 'f', { a: 1 }],
      ['y', 'g', { b: 2 }],
    ])
  })

  it('generates a missing tool call id', async () => {
    const [found] = (await calls(call({ index: 0, function: { name: 'f', arguments: '{"a":1}' } }))) ?? []
    expect(found?.slice(1)).toEqual(['f', { a: 1 }])
    expect(String(found?.[0])).toMatch(/^\S{8,40}$/)
  })

  it('accepts [DONE] as the end of a nonempty response without finish_reason', async () => {
    const answered = await playBytes(sse(call({ index: 0, id: 'x', function: { name: 'f', arguments: '{}' } }), '[DONE]'))
    expect(answered.message?.stopReason).toBe('toolUse')
    expect((await playBytes(sse(chunk({ role: 'assistant' }), '[DONE]'))).code).toBe('network')
  })

  it('ignores unknown data', async () => {
    const odd = [{}, { choices: null }, { choices: [] }, { choices: [null] }, chunk({ content: null, tool_calls: [null] }), { usage: null }]
    const { message } = await playBytes(sse(...odd, chunk({ content: 'ok', tool_calls: [] }, 'stop')))
    expect(message?.content).toEqual([{ type: 'text', text: 'ok' }])
  })

  const reasons: [string, string][] = [
    ['stop', 'stop'],
    ['end', 'stop'],
    ['length', 'length'],
    ['model_length', 'length'],
    ['tool_calls', 'stop'],
    ['content_filter', 'guardRail'],
    ['something_new', 'error'],
    ['constructor', 'error'],
  ]
  it.each(reasons)('maps finish_reason %s of plain text to %s', async (reason, expected) => {
    const { message, code } = await playBytes(sse(chunk({ content: 'x' }, reason)))
    expect(code).toBeUndefined()
    expect(message?.stopReason).toBe(expected)
    expect(message?.errorMessage === undefined).toBe(expected !== 'error')
  })

  it.each([
    ['error', 'api'],
    ['network_error', 'network'],
    ['insufficient_system_resource', 'api'],
  ])('reports finish_reason %s as a retryable failure', async (reason, code) => {
    const outcome = await playBytes(sse(chunk({ content: 'x' }, reason)))
    expect(outcome.error).toMatchObject({ code, isRetryable: true })
    expect(outcome.message?.content).toEqual([{ type: 'text', text: 'x' }])
  })
})

describe('Chat Completions usage', () => {
  const usageOf = async (raw: object, provider = 'openai') => {
    const { message } = await play(
      answering([sse(chunk({ content: 'x' }, 'stop', { usage: raw }))]),
      provider === 'xai' ? { compat: { thinkingFormat: 'xai' } } : {},
    )
    return message?.usage
  }

  it('keeps token counts at zero or above', async () => {
    const raw = { prompt_tokens: 5, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 9 } }
    expect(await usageOf(raw)).toMatchObject({ input: 0, cacheRead: 9 })
  })

  it('adds reasoning tokens outside the completion to the output', async () => {
    const raw = { prompt_tokens: 10, completion_tokens: 4, total_tokens: 20, completion_tokens_details: { reasoning_tokens: 6 } }
    expect(await usageOf(raw)).toEqual({ input: 10, output: 10, reasoning: 6, cacheRead: 0, cacheWrite: 0, totalTokens: 20 })
    const untotalled = { prompt_tokens: 10, completion_tokens: 4, completion_tokens_details: { reasoning_tokens: 6 } }
    expect(await usageOf(untotalled, 'xai')).toMatchObject({ output: 10, totalTokens: 20 })
    expect(await usageOf(untotalled)).toMatchObject({ output: 4, totalTokens: 14 })
  })

  it('reads the last usage report in the choice, in x_groq or at the top', async () => {
    const inChoice = { choices: [{ delta: { content: 'x' }, finish_reason: 'stop', usage: { prompt_tokens: 3, cached_tokens: 1 } }] }
    expect((await playBytes(sse(inChoice))).message?.usage).toMatchObject({ input: 2, cacheRead: 1 })
    const groq = { ...chunk({ content: 'x' }, 'stop'), x_groq: { usage: { prompt_tokens: 4 } } }
    expect((await playBytes(sse(groq))).message?.usage.input).toBe(4)
    const growing = [
      chunk({ content: 'x' }, null, { usage: { completion_tokens: 1 } }),
      chunk({}, 'stop', { usage: { completion_tokens: 2 } }),
    ]
    expect((await playBytes(sse(...growing))).message?.usage.output).toBe(2)
  })
})
