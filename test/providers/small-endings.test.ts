import { describe, expect, it } from 'vitest'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai, openaiCompatible } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { answering as awsAnswering, frame } from './bedrock/call.ts'
import { answering, sse, utf8 } from './bytes.ts'
import { outcomeOf, plainRequest, sentBody, user } from './model-call.ts'

type Json = Record<string, unknown>

async function read({ provider, config }: Model) {
  const { message, error, events } = await outcomeOf(provider, plainRequest(config))
  if (message === undefined) throw error
  return { message, warnings: events.flatMap((event) => (event.type === 'warning' ? [event.warning] : [])) }
}

const begun = { type: 'message_start', message: { id: 'm', model: 'claude-a' } }
const spoken = { type: 'content_block_start', index: 9, content_block: { type: 'text', text: 'Tea.' } }
const ended = [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }, { type: 'message_stop' }]
const claude = (...bytes: Uint8Array[]) => anthropic('claude-test', { fetch: answering(bytes) })
const part = (fields: Json, finishReason?: string) => ({ candidates: [{ content: { parts: [fields] }, finishReason }] })

describe('the end of a response', () => {
  it.each(['{}', 'null', '{"x":1}'])('ends a message by the event name alone: message_stop with the data %s', async (data) => {
    const { message } = await read(claude(sse(begun, spoken, ended[0]), utf8(`event: message_stop\ndata: ${data}\n\n`)))
    expect(message).toMatchObject({ stopReason: 'stop', content: [{ text: 'Tea.' }] })
  })

  it('accepts [DONE] as a JSON string', async () => {
    const chunk = { choices: [{ index: 0, delta: { content: 'Tea.' } }] }
    const { message } = await read(openai('m', { fetch: answering([sse(chunk, '"[DONE]"')]) }))
    expect(message).toMatchObject({ stopReason: 'stop', content: [{ text: 'Tea.' }] })
  })

  it.each([
    ['Anthropic', () => claude(sse(begun, spoken, '"[DONE]"', ...ended))],
    ['Gemini', () => google('m', { fetch: answering([sse(part({ text: 'Tea.' }, 'STOP'), '"[DONE]"')]) })],
  ] as const)('ignores "[DONE]" as a JSON string in other protocols: %s', async (_name, make) => {
    expect((await read(make())).message.content).toMatchObject([{ text: 'Tea.' }])
  })
})

describe('a duplicate id of two hosted tools', () => {
  const call = (index: number) => ({
    type: 'content_block_start',
    index,
    content_block: { type: 'server_tool_use', id: 'st_1', name: 'web_search', input: {} },
  })
  const executable = part({ executableCode: { id: 'st_1', language: 'PYTHON', code: '1' } })
  const start = (contentBlockIndex: number) =>
    frame('contentBlockStart', {
      contentBlockIndex,
      start: { toolUse: { toolUseId: 'st_1', name: 'nova_grounding', type: 'server_tool_use' } },
    })
  const item = (output_index: number) => ({
    type: 'response.output_item.done',
    output_index,
    item: { type: 'web_search_call', id: 'st_1', status: 'completed', action: { type: 'search', query: `q${output_index}` } },
  })
  const completed = { type: 'response.completed', response: { status: 'completed' } }
  const stop = [frame('messageStop', { stopReason: 'end_turn' }), frame('metadata', {})]

  it.each<[string, (times: number) => Model]>([
    ['Anthropic', (times) => claude(sse(begun, ...[call(0), call(1)].slice(0, times), ...ended))],
    ['Gemini', (times) => google('m', { fetch: answering([sse(...Array(times).fill(executable), part({ text: '.' }, 'STOP'))]) })],
    ['Bedrock', (times) => bedrock('m', { fetch: awsAnswering([...[start(0), start(1)].slice(0, times), ...stop]) })],
    ['Responses', (times) => openaiResponses('m', { fetch: answering([sse(...[item(0), item(1)].slice(0, times), completed)]) })],
  ])('warns about a duplicate id of two hosted tools: %s', async (_name, make) => {
    expect((await read(make(2))).warnings).toEqual([expect.stringContaining('"st_1"')])
    expect((await read(make(1))).warnings).toEqual([])
  })
})

describe('responseModel after a fallback', () => {
  it.each([
    ['its name', 'claude-b'],
    ['an object', { model: 'claude-b' }],
  ])('names the model that responded after a fallback: Anthropic, by %s', async (_name, to) => {
    const block = { type: 'content_block_start', index: 0, content_block: { type: 'fallback', from: 'claude-a', to, trigger: 'refusal' } }
    const { message } = await read(claude(sse(begun, block, { type: 'content_block_stop', index: 0 }, spoken, ...ended)))
    expect(message.responseModel).toBe('claude-b')
  })

  it('names the model of the finished response: Responses', async () => {
    const events = [
      { type: 'response.created', response: { id: 'r', model: 'a' } },
      { type: 'response.completed', response: { id: 'r', model: 'b', status: 'completed' } },
    ]
    expect((await read(openaiResponses('m', { fetch: answering([sse(...events)]) }))).message.responseModel).toBe('b')
  })
})

describe('history sent back to Chat Completions', () => {
  const chat = async (model: Model) => {
    const { message } = await read(model)
    const body = await sentBody<{ messages: Json[] }>(
      model.provider,
      plainRequest(model.config, { messages: [user('a'), message, user('b')] }),
    )
    return body.messages.find(({ role }) => role === 'assistant')
  }
  const annotation = { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', start_index: 0, end_index: 4 } }
  const delta = (fields: Json, more: Json = {}) => ({ choices: [{ index: 0, delta: fields, ...more }] })

  it('sends OpenRouter annotations back unchanged', async () => {
    const chunks = [delta({ content: 'Tea.', annotations: [annotation] }, { finish_reason: 'stop' }), '[DONE]']
    const model = openaiCompatible('m', { backend: 'openrouter', fetch: answering([sse(...chunks)]) })
    expect(await chat(model)).toMatchObject({ content: 'Tea.', annotations: [annotation] })
  })

  it.each([
    ['has not expired', 9_999_999_999, { content: 'Tea.', audio: { id: 'audio_1' } }],
    ['has expired', 1, { content: 'Tea.\nIt is hot.' }],
  ])('sends the text next to audio that %s', async (_name, expires_at, expected) => {
    const audio = { id: 'audio_1', data: 'AAAA', transcript: 'It is hot.', expires_at }
    const chunks = [delta({ content: 'Tea.' }), delta({ audio }, { finish_reason: 'stop' }), '[DONE]']
    expect(await chat(openai('gpt-audio', { fetch: answering([sse(...chunks)]) }))).toMatchObject(expected)
  })
})
