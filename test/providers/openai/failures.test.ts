import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ProviderError } from '../../../src/contract/errors.ts'
import { openai, openaiCompatible } from '../../../src/providers/openai.ts'
import { answering, sse } from '../bytes.ts'
import { answerOf, chunk, play, playBytes, requestFor } from './call.ts'

describe('Chat Completions stream failures', () => {
  it('classifies an error object and keeps the partial response', async () => {
    const { error, message } = await playBytes(answerOf('mid-stream-error'))
    expect(error).toMatchObject({ code: 'api', isRetryable: true })
    expect(error?.message).toContain('Provider returned error')
    expect(message).toMatchObject({ stopReason: 'error', content: [{ type: 'text', text: 'So far so good' }] })
  })

  it('reports an end without finish_reason as a broken connection', async () => {
    const { error, message } = await playBytes(answerOf('truncated'))
    expect(error).toMatchObject({ code: 'network', isRetryable: true })
    expect(error?.message).toContain('finish_reason')
    expect(message?.content[1]).toMatchObject({ name: 'write', arguments: {}, invalidArguments: '{"path":"a' })
  })

  const shapes: [string, Uint8Array, string][] = [
    ['a flat Mistral error', sse({ object: 'error', message: 'no such model', type: 'invalid_model', code: 1500 }), 'api'],
    ['an xAI error as a string', sse({ code: 'The service is overloaded', error: 'Too busy' }), 'api'],
    ['a rate limit by its code', sse({ error: { message: 'Slow down', code: 429 } }), 'rateLimited'],
    ['an overflow by its text', sse({ error: { message: "This model's maximum context length is 10 tokens" } }), 'contextOverflow'],
    ['a named event', new TextEncoder().encode('event: error\ndata: {"message":"went wrong"}\n\n'), 'api'],
  ]
  it.each(shapes)('classifies an error in the stream: %s', async (_name, bytes, code) => {
    expect((await playBytes(bytes)).code).toBe(code)
  })

  it('reports a frame that is not JSON', async () => {
    const outcome = await playBytes(sse(chunk({ content: 'a' }), '{not json'))
    expect(outcome.code).toBe('network')
    expect(outcome.message?.content).toEqual([{ type: 'text', text: 'a' }])
    for (const odd of ['null', '3', '"text"']) expect((await playBytes(sse(odd))).code).toBe('network')
  })

  it('returns a message or throws a ProviderError for any frames', async () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.record({ choices: fc.array(fc.record({ delta: fc.jsonValue(), finish_reason: fc.jsonValue() })) }),
    )
    const delta = fc.record(
      {
        content: fc.jsonValue(),
        reasoning: fc.jsonValue(),
        reasoning_details: fc.jsonValue(),
        refusal: fc.jsonValue(),
        tool_calls: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    const frame = fc.oneof(value, fc.record({ choices: fc.tuple(fc.record({ delta })) }))
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 6 }), async (frames) => {
        const { message, error, starts } = await playBytes(sse(...frames.map((one) => JSON.stringify(one))))
        expect(message !== undefined || error !== undefined).toBe(true)
        expect(starts).toBeLessThanOrEqual(1)
        expect(() => structuredClone(message)).not.toThrow()
      }),
      { numRuns: 500 },
    )
  })
})

describe('Chat Completions HTTP errors', () => {
  const refuse = (status: number, body: unknown, headers: Record<string, string> = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return play(async () => new Response(text, { status, headers }))
  }

  it('classifies by status and text', async () => {
    expect((await refuse(401, { error: { message: 'bad key' } })).code).toBe('auth')
    expect((await refuse(400, { error: { message: 'odd', code: 'context_length_exceeded' } })).code).toBe('contextOverflow')
    const limited = await refuse(429, { error: { message: 'slow' } }, { 'retry-after-ms': '1500' })
    expect(limited.error).toMatchObject({ code: 'rateLimited', retryAfterMs: 1500, isRetryable: true, status: 429 })
    expect((await refuse(429, { error: { code: 'insufficient_quota', message: 'pay' } })).error?.isRetryable).toBe(false)
    expect((await refuse(503, '')).error).toMatchObject({ code: 'api', isRetryable: true })
  })

  it('treats an empty 400 as an overflow if the backend uses it so', async () => {
    const send = async () => new Response('', { status: 400 })
    const model = openaiCompatible('m', { backend: 'cerebras', fetch: send })
    const stream = model.provider.stream(requestFor(model), () => undefined, new AbortController().signal)
    await expect(stream).rejects.toMatchObject({ code: 'contextOverflow' })
    expect((await play(send)).code).toBe('api')
  })

  it('keeps the key out of the error message', async () => {
    const send = async () => new Response(JSON.stringify({ error: { message: 'Incorrect API key provided: sk-123456.' } }), { status: 401 })
    const model = openai('gpt-6-sol', { apiKey: 'sk-123456', fetch: send })
    const request = requestFor(model, { credential: 'sk-123456' })
    const error: unknown = await model.provider
      .stream(request, () => undefined, new AbortController().signal)
      .catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ProviderError)
    expect(String(error)).not.toContain('sk-123456')
  })
})

describe('Chat Completions aborts', () => {
  it('stops immediately with partial output, and cancels the body', async () => {
    const first = sse(chunk({ content: 'a' }))
    let isReleased = false
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(first),
      cancel: () => {
        isReleased = true
      },
    })
    const model = openai('gpt-6-sol', { fetch: async () => new Response(body) })
    const controller = new AbortController()
    const run = model.provider.stream(requestFor(model), (event) => event.type === 'text' && controller.abort(), controller.signal)
    const error: unknown = await run.catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'cancelled' })
    if (error instanceof ProviderError)
      expect(error.partial).toMatchObject({ stopReason: 'aborted', content: [{ type: 'text', text: 'a' }] })
    expect(isReleased).toBe(true)
  })

  it('sends nothing after an abort', async () => {
    let sent = 0
    const send: typeof fetch = (...args) => {
      sent++
      return answering([answerOf('text')])(...args)
    }
    const model = openai('gpt-6-sol', { fetch: send })
    await expect(model.provider.stream(requestFor(model), () => undefined, AbortSignal.abort())).rejects.toMatchObject({
      code: 'cancelled',
    })
    expect(sent).toBe(0)
  })
})
