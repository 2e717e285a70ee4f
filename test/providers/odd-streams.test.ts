import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { textOf, toolCallsOf } from '../../src/contract/message/message.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { frame } from './bedrock/call.ts'
import { bodyOf, type Ending, utf8 } from './bytes.ts'
import { type Outcome, outcomeOf, plainRequest } from './model-call.ts'

const data = (value: unknown) => utf8(`data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`)

/** Answers with these pieces, and ends like this. */
function answering(pieces: readonly Uint8Array[], ending: Ending = 'close', type = 'text/event-stream'): typeof fetch {
  return async () => new Response(bodyOf(pieces, ending).stream, { headers: { 'content-type': type } })
}

const call = ({ config, provider }: Model): Promise<Outcome> =>
  outcomeOf(provider, plainRequest(config, { credential: 'sk-canary-0123456789' }))
const chat = (...values: unknown[]) => call(openai('m', { fetch: answering(values.map(data)) }))
const gemini = (values: unknown[], ending: Ending = 'close') => call(google('m', { fetch: answering(values.map(data), ending) }))
const said = ({ message }: Outcome) => textOf(message?.content ?? [])

const choice = (fields: object, index?: number) => ({ choices: [{ ...(index === undefined ? {} : { index }), ...fields }] })
const stop = choice({ delta: {}, finish_reason: 'stop' }, 0)
const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
const candidate = (text: string, more: object = {}) => ({ candidates: [{ content: { parts: [{ text }] }, ...more }] })

describe('the index of choices and candidates', () => {
  it('reads only choice 0: Chat Completions', async () => {
    const other = choice({ delta: { content: 'B' }, finish_reason: 'length' }, 1)
    const both = {
      choices: [
        { index: 1, delta: { content: 'B' } },
        { index: 0, delta: { content: 'A' } },
      ],
    }
    const outcome = await chat(other, choice({ delta: { content: 'A' } }, 0), other, both, choice({ delta: { content: 'A' } }), stop)
    expect(said(outcome)).toBe('AAA')
    expect(outcome.message?.stopReason).toBe('stop')
  })

  it('reads only candidate 0: Gemini', async () => {
    const other = candidate('B', { index: 1, finishReason: 'SAFETY' })
    const outcome = await gemini([other, candidate('A', { index: 0 }), other, candidate('A', { finishReason: 'STOP' })])
    expect(said(outcome)).toBe('AA')
    expect(outcome.message?.stopReason).toBe('stop')
  })
})

describe('a Gemini stream with an early finish reason', () => {
  const early = [candidate('Hel', { finishReason: 'STOP' }), candidate('lo', { finishReason: 'STOP' })]

  it('reads a Gemini stream to its end after an early finish reason', async () => {
    expect(said(await gemini(early))).toBe('Hello')
  })

  it('fails if the connection breaks after an early finish reason', async () => {
    const { error } = await gemini(early, 'break')
    expect(error).toMatchObject({ code: 'network', isRetryable: true, partial: { stopReason: 'error' } })
  })

  it('fails if the stream ends within a frame', async () => {
    const cut = answering([...early.slice(0, 1).map(data), data(early[1]).subarray(0, 30)])
    const { error } = await call(google('m', { fetch: cut }))
    expect(error).toMatchObject({ code: 'network', isRetryable: true, partial: { stopReason: 'error' } })
  })

  it('succeeds if the connection hangs after the finish reason', async () => {
    const fetch = answering(early.map(data), 'hang')
    expect(said(await call(google('m', { fetch, idleTimeoutMs: 5 })))).toBe('Hello')
  })
})

describe('data after the finish reason', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** Calls a service that sends its last piece `ms` after the others. */
  async function late(
    make: (options: object) => Model,
    first: readonly Uint8Array[],
    last: Uint8Array,
    type = 'text/event-stream',
    ms = 10_000,
  ) {
    let timer: ReturnType<typeof setTimeout>
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of first) controller.enqueue(piece)
        timer = setTimeout(() => {
          controller.enqueue(last)
          controller.close()
        }, ms)
      },
      cancel: () => clearTimeout(timer),
    })
    const calling = call(make({ fetch: async () => new Response(body, { headers: { 'content-type': type } }) }))
    await vi.advanceTimersByTimeAsync(20_000)
    return calling
  }

  it('waits briefly for late usage of Chat Completions', async () => {
    const first = [data(choice({ delta: { content: 'A' } }, 0)), data(stop)]
    for (const [ms, expected] of [
      [1500, { input: 7, output: 3 }],
      [10_000, { input: 0, output: 0 }],
    ] as const) {
      const { message } = await late((options) => openai('m', options), first, data({ choices: [], usage }), undefined, ms)
      expect(message?.usage).toMatchObject(expected)
    }
  })

  it('waits for late metadata of Bedrock', async () => {
    const first = [frame('messageStart', {}), frame('messageStop', { stopReason: 'end_turn' })]
    const last = frame('metadata', { usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 } })
    const { message } = await late((options) => bedrock('m', options), first, last, 'application/vnd.amazon.eventstream')
    expect(message?.usage).toMatchObject({ input: 7, output: 3 })
  })

  it('waits for late content of Gemini', async () => {
    const first = [data(candidate('Hel', { finishReason: 'STOP' }))]
    expect(said(await late((options) => google('m', options), first, data(candidate('lo', { finishReason: 'STOP' }))))).toBe('Hello')
  })

  it('returns without waiting if the protocol sends nothing later', async () => {
    const first = [data({ ...choice({ delta: { content: 'A' }, finish_reason: 'stop' }, 0), usage })]
    expect(said(await late((options) => openai('m', options), first, data(choice({ delta: { content: 'B' } }, 0))))).toBe('A')
  })
})

describe('the stop reason of a provider', () => {
  it('includes the reason why Gemini blocked a prompt', async () => {
    const { message } = await gemini([{ promptFeedback: { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'Not this.' } }])
    expect(message).toMatchObject({ stopReason: 'guardRail', errorMessage: expect.stringMatching(/PROHIBITED_CONTENT.*Not this\./) })
  })

  it('includes the reason why Gemini stopped a response', async () => {
    const { message } = await gemini([candidate('A', { finishReason: 'SAFETY' })])
    expect(message).toMatchObject({ stopReason: 'guardRail', errorMessage: expect.stringContaining('SAFETY') })
  })

  it('includes the error of a choice sent by a router', async () => {
    const error = {
      code: 502,
      message: 'Provider returned error',
      metadata: { raw: '{"detail":"the kitchen is closed"}', provider_name: 'Acme' },
    }
    const outcome = await chat(choice({ delta: { content: 'A' } }, 0), choice({ delta: {}, finish_reason: 'error', error }, 0))
    expect(outcome.error).toMatchObject({ code: 'api', isRetryable: true, message: expect.stringContaining('Acme: the kitchen is closed') })
  })
})

const models: Record<string, (fetch: typeof globalThis.fetch) => Model> = {
  Anthropic: (fetch) => anthropic('m', { fetch }),
  'Chat Completions': (fetch) => openai('m', { fetch }),
  'the Responses API': (fetch) => openaiResponses('m', { fetch }),
  Gemini: (fetch) => google('m', { fetch }),
  Bedrock: (fetch) => bedrock('m', { fetch }),
}

describe.each(Object.entries(models))('an error of %s with status 200', (_name, make) => {
  const error = { error: { code: 429, message: 'Slow down' } }
  const bodies: Record<string, string> = {
    'as plain JSON': JSON.stringify(error),
    'as JSON in lines': JSON.stringify(error, null, 2),
    'in a list': JSON.stringify([error]),
  }
  it.each(Object.entries(bodies))('rejects with the error under a stream content type: %s', async (_form, body) => {
    const bytes = utf8(body)
    const type = make(fetch).config.api === 'bedrockConverseStream' ? 'application/vnd.amazon.eventstream' : 'text/event-stream'
    const outcome = await call(make(answering([bytes.subarray(0, 9), bytes.subarray(9)], 'close', type)))
    expect(outcome.error).toMatchObject({ code: 'rateLimited', message: expect.stringContaining('Slow down') })
  })

  it('rejects with the error of an event', async () => {
    if (make(fetch).config.api === 'bedrockConverseStream') return
    for (const head of ['', 'event: error\n']) {
      const outcome = await call(make(answering([utf8(`${head}data: ${JSON.stringify(error)}\n\n`)])))
      expect(outcome.error).toMatchObject({ code: 'rateLimited', message: expect.stringContaining('Slow down') })
    }
  })
})

describe('Chat Completions variants', () => {
  it('accepts messages in place of deltas', async () => {
    expect(
      said(await chat(choice({ message: { content: 'Hel' } }, 0), choice({ message: { content: 'lo' }, finish_reason: 'stop' }, 0))),
    ).toBe('Hello')
  })

  it('accepts a complete message after its deltas without duplicating it', async () => {
    const whole = { object: 'chat.completion', ...choice({ message: { content: 'Hello' }, finish_reason: 'stop' }, 0) }
    expect(said(await chat(choice({ delta: { content: 'Hello' } }, 0), whole))).toBe('Hello')
    expect(said(await chat(choice({ delta: { role: 'assistant' } }, 0), whole))).toBe('Hello')
  })

  const read = { name: 'read', arguments: '{"q":1}' }
  const forms: Record<string, object[]> = {
    'a call outside a list': [{ tool_calls: { index: 0, id: 'a', function: read } }],
    'calls in an object with numeric keys': [{ tool_calls: { 0: { id: 'a', function: read } } }],
    'a call without its function object': [{ tool_calls: [{ index: 0, id: 'a', ...read }] }],
    'the legacy function_call form': [
      { function_call: { name: 'read', arguments: '' } },
      { function_call: { arguments: '{"q":' } },
      { function_call: { arguments: '1}' } },
    ],
  }
  it.each(Object.entries(forms))('accepts %s', async (_name, deltas) => {
    const { message } = await chat(...deltas.map((delta) => choice({ delta }, 0)), choice({ delta: {}, finish_reason: 'function_call' }, 0))
    expect(toolCallsOf(message?.content ?? [])).toMatchObject([{ name: 'read', arguments: { q: 1 } }])
    expect(message?.stopReason).toBe('toolUse')
  })
})

describe('harmless stream data', () => {
  it('ignores events without data, and spaces around an end marker', async () => {
    const values: [string, Model][] = [
      ['Chat', openai('m', { fetch: answering(['', choice({ delta: { content: 'A' } }, 0), ' ', stop, '[DONE] '].map(data)) })],
      ['Gemini', google('m', { fetch: answering(['', candidate('A', { finishReason: 'STOP' }), ' [DONE]  '].map(data)) })],
      [
        'Responses',
        openaiResponses('m', {
          fetch: answering(['', { type: 'response.output_text.delta', delta: 'A' }, '[DONE] ', { type: 'response.completed' }].map(data)),
        }),
      ],
      [
        'Anthropic',
        anthropic('m', {
          fetch: answering(
            [
              '',
              { type: 'message_start', message: {} },
              '[DONE] ',
              { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'A' } },
              { type: 'message_stop' },
            ].map(data),
          ),
        }),
      ],
    ]
    for (const [name, model] of values) expect([name, said(await call(model))]).toEqual([name, 'A'])
  })

  it('ignores a usage object without counts after a real one', async () => {
    const done = choice({ delta: { content: 'A' }, finish_reason: 'stop' }, 0)
    for (const empty of [{}, { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }]) {
      expect((await chat({ ...done, usage }, { choices: [], usage: empty })).message?.usage).toMatchObject({ input: 7, output: 3 })
    }
    const meta = { usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3 } }
    const outcome = await gemini([{ ...candidate('A', { finishReason: 'STOP' }), ...meta }, { usageMetadata: {} }])
    expect(outcome.message?.usage).toMatchObject({ input: 7, output: 3 })
  })
})

describe('an event over the size limit', () => {
  const long = [utf8(`data: "${'x'.repeat(500)}`), utf8('y'.repeat(600)), utf8('z')]
  it.each(Object.entries(models).filter(([name]) => name !== 'Bedrock'))(
    'rejects an event over the size limit without a retry: %s',
    async (_name, make) => {
      const { config } = make(fetch)
      const options = { fetch: answering(long), maxEventChars: 1000 }
      const model = {
        anthropicMessages: anthropic,
        openAiCompletions: openai,
        openAiResponses: openaiResponses,
        googleGenerativeAi: google,
      }[config.api as 'openAiCompletions']('m', options)
      const { error } = await call(model)
      expect(error).toMatchObject({ code: 'network', isRetryable: false, message: expect.stringContaining('maxEventChars') })
    },
  )

  it('accepts a large event with a raised limit', async () => {
    const text = 'x'.repeat(3000)
    const bytes = data(choice({ delta: { content: text }, finish_reason: 'stop' }, 0))
    const pieces = [bytes.subarray(0, 1500), bytes.subarray(1500)]
    expect(said(await call(openai('m', { fetch: answering(pieces), maxEventChars: 5000 })))).toBe(text)
    expect((await call(openai('m', { fetch: answering(pieces), maxEventChars: 1000 }))).error).toMatchObject({ isRetryable: false })
  })

  it('rejects a Bedrock line over the limit', async () => {
    const fetch = answering(long, 'close', 'application/x-ndjson')
    expect((await call(bedrock('m', { fetch, maxEventChars: 1000 }))).error).toMatchObject({
      isRetryable: false,
      message: expect.stringContaining('maxEventChars'),
    })
  })
})
