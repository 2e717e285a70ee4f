import { describe, expect, it } from 'vitest'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { usageReader } from '../../src/providers/usage-reader.ts'
import type { Model } from '../../src/types/model/model.ts'
import { answering as awsAnswering, frame } from './bedrock/call.ts'
import { answering, sse } from './bytes.ts'
import { outcomeOf, plainRequest } from './model-call.ts'

const usageOf = async ({ provider, config }: Model) => (await outcomeOf(provider, plainRequest(config))).message?.usage
const [zeroes, text] = [
  { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  { type: 'text', text: 'Tea.' },
]

const messages = [
  {
    type: 'message_start',
    message: {
      id: 'm',
      usage: { input_tokens: 70, cache_read_input_tokens: 20, cache_creation_input_tokens: 10, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: text },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { ...zeroes, output_tokens: 5 } },
  { type: 'message_stop' },
]
const chunks = [
  { choices: [{ index: 0, delta: { content: 'Tea.' } }], usage: { prompt_tokens: 90, completion_tokens: 0, total_tokens: 90 } },
  {
    choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
    usage: { prompt_tokens: 0, completion_tokens: 5, total_tokens: 5, prompt_tokens_details: null },
  },
]
const gemini = [
  { candidates: [{ content: { parts: [{ text: 'Tea.' }] } }], usageMetadata: { promptTokenCount: 90, cachedContentTokenCount: 20 } },
  {
    candidates: [{ finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 0, cachedContentTokenCount: 0, candidatesTokenCount: 5, totalTokenCount: 5 },
  },
]

describe('zero counts in a later usage report', () => {
  it('keeps the input counts of message_start: Anthropic', async () => {
    const usage = await usageOf(anthropic('m', { fetch: answering([sse(...messages)]) }))
    expect(usage).toMatchObject({ input: 70, cacheRead: 20, cacheWrite: 10, output: 5, totalTokens: 105 })
  })

  it('replaces earlier counts after a server-side compaction: Anthropic', async () => {
    const usage = { input_tokens: 181, cache_read_input_tokens: 0, cache_creation_input_tokens: 0, output_tokens: 8 }
    const compacted = messages.map((event) => (event.type === 'message_delta' ? { ...event, usage } : event))
    expect(await usageOf(anthropic('m', { fetch: answering([sse(...compacted)]) }))).toMatchObject({
      input: 181,
      cacheRead: 0,
      cacheWrite: 0,
    })
  })

  it('keeps the prompt count of an earlier chunk: Chat Completions', async () => {
    const usage = await usageOf(openai('m', { fetch: answering([sse(...chunks)]) }))
    expect(usage).toMatchObject({ input: 90, output: 5, totalTokens: 95 })
  })

  it('keeps the prompt count of an earlier chunk: Gemini', async () => {
    const usage = await usageOf(google('m', { fetch: answering([sse(...gemini)]) }))
    expect(usage).toMatchObject({ input: 70, cacheRead: 20, output: 5, totalTokens: 95 })
  })

  it('keeps the counts of an earlier report: Bedrock', async () => {
    const frames = [
      frame('messageStart', {}),
      frame('metadata', { usage: { inputTokens: 90, outputTokens: 5, totalTokens: 95 } }),
      frame('metadata', { usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } }),
      frame('messageStop', { stopReason: 'end_turn' }),
    ]
    expect(await usageOf(bedrock('m', { fetch: awsAnswering(frames) }))).toMatchObject({ input: 90, output: 5, totalTokens: 95 })
  })

  it.each([
    ['anthropicMessages', messages, { input: 70, cacheRead: 20, cacheWrite: 10, output: 5 }],
    ['openAiCompletions', chunks, { input: 90, output: 5, totalTokens: 95 }],
    ['googleGenerativeAi', gemini, { input: 70, cacheRead: 20, output: 5 }],
  ] as const)('reads passed-through usage the same way: %s', (api, events, expected) => {
    const read = usageReader(api)
    expect(events.map((event) => read(event)).at(-1)).toMatchObject(expected)
  })

  it('counts a prompt once if the later report lists it as cached', async () => {
    const report = (cached_tokens: number) => ({ prompt_tokens: 90, completion_tokens: 5, prompt_tokens_details: { cached_tokens } })
    const played = chunks.map((chunk, at) => ({ ...chunk, usage: report(at * 90) }))
    expect(await usageOf(openai('m', { fetch: answering([sse(...played)]) }))).toMatchObject({ input: 0, cacheRead: 90, totalTokens: 95 })
  })
})
