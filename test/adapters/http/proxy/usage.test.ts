import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { Upstream } from '../../../../adapters/http/index.ts'
import type { Usage } from '../../../../src/index.ts'
import { chat, proxyTo } from './fake-upstream.ts'

interface Recording {
  id: string
  protocol: string
  file: string
  contentType: string
  httpStatus: number
  expected: { usage: Counts | null; error: unknown }
}

const folder = new URL('../../../../../shared/conformance/streams/', import.meta.url)
const isThere = existsSync(fileURLToPath(folder))
if (!isThere) console.warn('SKIPPED: usage of recorded streams behind the proxy, because ../shared/conformance is absent')
const recordings: Recording[] = isThere ? JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8')).streams : []

const apis: Record<string, { api: Upstream['api']; path: string }> = {
  anthropic_messages: { api: 'anthropicMessages', path: '/up/v1/messages' },
  openai_completions: { api: 'openAiCompletions', path: '/up/chat/completions' },
  openai_responses: { api: 'openAiResponses', path: '/up/responses' },
  azure_openai_responses: { api: 'azureOpenAiResponses', path: '/up/openai/v1/responses' },
  google_generative_ai: { api: 'googleGenerativeAi', path: '/up/v1beta/models/m:streamGenerateContent?alt=sse' },
  google_vertex: { api: 'googleVertex', path: '/up/v1/publishers/google/models/m:streamGenerateContent?alt=sse' },
  bedrock_converse_stream: { api: 'bedrockConverseStream', path: '/up/model/m/converse-stream' },
}

type Counts = Pick<Usage, 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'reasoning'>

/** What the manifest says in the terms of `Usage`: it has the counts of the service, which mean different things. */
function asUsage(protocol: string, { input, output, cacheRead, cacheWrite, reasoning }: Counts): Counts {
  if (protocol === 'anthropic_messages' || protocol === 'bedrock_converse_stream')
    return { input, output, cacheRead, cacheWrite, reasoning }
  const answer = protocol.startsWith('google') ? output + reasoning : output
  return { input: input - cacheRead - cacheWrite, output: answer, cacheRead, cacheWrite, reasoning }
}

function figuresOf(usage: Counts | undefined) {
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0 } = usage ?? {}
  return { prompt: input + cacheRead + cacheWrite, cached: cacheRead + cacheWrite, output }
}

/** `bytes` in pieces of `size`, from an upstream in this process; what came out of the proxy and what it counted. */
async function relayed(
  { protocol, contentType }: Pick<Recording, 'protocol' | 'contentType'>,
  bytes: Uint8Array<ArrayBuffer>,
  size: number,
) {
  const { api, path } = apis[protocol] ?? { api: 'openAiCompletions', path: '' }
  let at = 0
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    if (at < bytes.length) controller.enqueue(bytes.slice(at, at + size))
    else controller.close()
    at += size
  }
  const answer = async () => new Response(new ReadableStream({ pull }), { headers: { 'content-type': contentType } })
  const { app, reports } = proxyTo({ api, baseUrl: 'http://service.example/models' }, { fetch: answer })
  const response = await app.request(path, chat())
  const out = new Uint8Array(await response.arrayBuffer())
  return { out, report: reports[0] }
}

describe.skipIf(!isThere).each(Object.keys(apis))('recorded streams of %s behind the proxy', (protocol) => {
  const own = recordings.filter((recording) => recording.protocol === protocol && recording.httpStatus === 200)

  it('forwards recorded streams unchanged and counts their usage', async () => {
    expect(own.length).toBeGreaterThan(3)
    let counted = 0
    for (const recording of own) {
      const bytes = new Uint8Array(readFileSync(new URL(recording.file, folder)))
      for (const size of [bytes.length, 1 + (bytes.length % 61)]) {
        const { out, report } = await relayed(recording, bytes, size)
        expect(Buffer.from(out).equals(bytes), recording.id).toBe(true)
        const { usage, error } = recording.expected
        if (usage === null || error !== null || usage.output === 0) continue
        counted++
        expect({ id: recording.id, ...figuresOf(report?.usage) }).toEqual({ id: recording.id, ...figuresOf(asUsage(protocol, usage)) })
      }
    }
    expect(counted).toBeGreaterThan(3)
  })

  it('counts usage even for truncated streams', async () => {
    for (const recording of own.slice(0, 8)) {
      const bytes = new Uint8Array(readFileSync(new URL(recording.file, folder)))
      for (const part of [0.1, 0.5, 0.9]) {
        const { report } = await relayed(recording, bytes.slice(0, Math.floor(bytes.length * part)), 100)
        expect(report?.usage.totalTokens, recording.id).toBeGreaterThan(0)
      }
    }
  })
})

describe('provider-specific usage', () => {
  const reported = async (protocol: string, report: object) => {
    const text = `data: ${JSON.stringify(report)}\n\n`
    return (await relayed({ protocol, contentType: 'text/event-stream' }, new TextEncoder().encode(text), 50)).report?.usage
  }

  it.each([
    [
      'Gemini tool input, with the prompt counted without the cache',
      'google_generative_ai',
      { usageMetadata: { promptTokenCount: 100, cachedContentTokenCount: 100, toolUsePromptTokenCount: 50, candidatesTokenCount: 10 } },
      { input: 50, cacheRead: 100, output: 10 },
    ],
    [
      'costs reported by OpenRouter',
      'openai_completions',
      { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cost: 0.25 } },
      { input: 10, output: 5, reportedCost: 0.25 },
    ],
    [
      'costs and searches reported by xAI',
      'openai_responses',
      {
        type: 'response.completed',
        response: {
          usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15, cost_in_usd_ticks: 2_500_000_000 },
          tool_usage: { web_search: { num_requests: 3 } },
        },
      },
      { input: 10, output: 5, reportedCost: 0.25, searches: 3 },
    ],
    [
      'Anthropic one-hour cache writes and searches',
      'anthropic_messages',
      {
        type: 'message_delta',
        usage: {
          ...{ input_tokens: 10, output_tokens: 5, cache_creation_input_tokens: 90 },
          ...{ cache_creation: { ephemeral_1h_input_tokens: 80 }, server_tool_use: { web_search_requests: 2 } },
        },
      },
      { input: 10, output: 5, cacheWrite: 90, cacheWrite1h: 80, searches: 2 },
    ],
    [
      'Anthropic compaction and advisor tokens and the length of the last prompt',
      'anthropic_messages',
      {
        type: 'message_delta',
        usage: {
          ...{ input_tokens: 300, output_tokens: 20 },
          iterations: [
            { type: 'compaction', input_tokens: 100, output_tokens: 83, cache_read_input_tokens: 55_096, cache_creation_input_tokens: 0 },
            { type: 'message', input_tokens: 100, output_tokens: 12 },
            {
              type: 'advisor_message',
              model: 'claude-opus-5',
              input_tokens: 7,
              output_tokens: 3,
              iterations: [{ type: 'compaction', input_tokens: 9 }],
            },
            { type: 'message', input_tokens: 200, output_tokens: 8 },
            ...[null, 'x', { type: 'other', input_tokens: 5 }, { type: 'compaction', input_tokens: -1 }],
          ],
        },
      },
      {
        ...{ input: 300, output: 20, totalTokens: 320, contextTokens: 208 },
        beside: { input: 107, output: 86, cacheRead: 55_096, cacheWrite: 0 },
      },
    ],
    [
      'reasoning tokens outside the output of a backend without a total',
      'openai_completions',
      { choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 100 } } },
      { input: 10, output: 105, reasoning: 100 },
    ],
  ])('counts %s', async (_what, protocol, report, usage) => {
    expect(await reported(protocol, report)).toMatchObject(usage)
  })
})

describe('responses without usage', () => {
  const event = (text: string) => `data: ${JSON.stringify({ choices: [{ delta: { content: text } }] })}\n\n`
  const counted = async (text: string, contentType = 'text/event-stream') =>
    (await relayed({ protocol: 'openai_completions', contentType }, new TextEncoder().encode(text), 50)).report?.usage.output ?? 0

  it('estimates usage from the response text only', async () => {
    const words = Array.from({ length: 200 }, () => event('word '))
    expect(await counted(words.join(''))).toBe(200)
    const long = await counted(event('a') + event('x'.repeat(4000)))
    expect(long).toBeGreaterThan(950)
    expect(long).toBeLessThan(1100)
  })

  it('ignores usage numbers written by the model', async () => {
    const forged = event('"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":1}') + event('data: {"usage":{"total_tokens":1}}')
    expect(await counted(forged + event('x'.repeat(4000)))).toBeGreaterThan(900)
    const whole = JSON.stringify({ choices: [{ message: { tool_calls: [{ usage: { total_tokens: 1 } }], content: 'x'.repeat(4000) } }] })
    expect(await counted(whole, 'application/json')).toBeGreaterThan(950)
  })

  it('ignores invalid usage numbers', async () => {
    for (const odd of ['-5', '"12"', 'null', '{}', '[]', '1e999']) {
      const text = `${event('x'.repeat(4000))}data: {"usage":{"prompt_tokens":${odd},"completion_tokens":${odd},"total_tokens":${odd}}}\n\n`
      const output = await counted(text)
      expect(output, odd).toBeGreaterThan(900)
      expect(output, odd).toBeLessThan(2000)
    }
  })
})

describe('costs of proxied calls', () => {
  const long = { inputPerMillion: 20, outputPerMillion: 100, cacheReadPerMillion: 2, cacheWritePerMillion: 25 }
  const cost = { inputPerMillion: 10, outputPerMillion: 50, cacheReadPerMillion: 1, cacheWritePerMillion: 12.5 }
  const prices = { '*': { ...cost, tiers: [{ inputTokensAbove: 100_000, ...long }] } }

  it.each<[string, Upstream['api'], object, number]>([
    [
      'a short prompt with one-hour cache writes',
      'anthropicMessages',
      { input_tokens: 98_000, output_tokens: 1000 },
      0.98 + 0.05 + 0.0125 + 0.02,
    ],
    ['a long prompt', 'anthropicMessages', { input_tokens: 98_001, output_tokens: 1000 }, 1.96002 + 0.1 + 0.025 + 0.04],
    ['a long prompt on Bedrock', 'bedrockConverseStream', { inputTokens: 98_001, outputTokens: 1000 }, 1.96002 + 0.1 + 0.025 + 0.04],
  ])('applies the price of %s', async (_, api, tokens, usd) => {
    const kept = { cache_creation_input_tokens: 2000, cache_creation: { ephemeral_1h_input_tokens: 1000 } }
    const details = { cacheWriteInputTokens: 2000, cacheDetails: [{ ttl: '1h', inputTokens: 1000 }] }
    const answer = async () => Response.json({ usage: { ...tokens, ...(api === 'anthropicMessages' ? kept : details) } })
    const { app, reports } = proxyTo({ api, baseUrl: 'http://service.example/models', prices }, { fetch: answer })
    const path = Object.values(apis).find((each) => each.api === api)?.path ?? ''
    await (await app.request(path, chat())).text()
    expect(reports[0]?.usd).toBeCloseTo(usd, 9)
  })
})
