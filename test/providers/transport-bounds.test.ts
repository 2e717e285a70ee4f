import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openai } from '../../src/providers/openai.ts'
import { bodyOf, utf8 } from './bytes.ts'
import { outcomeOf, plainRequest } from './model-call.ts'

const data = (value: unknown) => utf8(`data: ${JSON.stringify(value)}\n\n`)
const stop = { id: '1', choices: [{ index: 0, delta: { content: 'A' }, finish_reason: 'stop' }] }
const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }

function answered(pieces: Iterable<Uint8Array>, status = 200, options: { idleTimeoutMs?: number } = {}) {
  const body = bodyOf(pieces, 'hang')
  const headers = { 'content-type': status === 200 ? 'text/event-stream' : 'application/json' }
  const { config, provider } = openai('m', {
    ...options,
    apiKey: 'key-0123456789',
    fetch: async () => new Response(body.stream, { status, headers }),
  })
  return { body, outcome: outcomeOf(provider, plainRequest(config)) }
}

describe('a body that does not end', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** Between which two whole seconds the call settles, and with what. */
  async function settledAfter(call: ReturnType<typeof answered>) {
    let isSettled = false
    const outcome = call.outcome.finally(() => {
      isSettled = true
    })
    let seconds = 0
    for (await vi.advanceTimersByTimeAsync(0); !isSettled && seconds < 400; seconds++) await vi.advanceTimersByTimeAsync(1000)
    return { seconds, ...(await outcome) }
  }

  // A clock that ticks once a second: the tick under way when something came does not count.
  it.each([
    ['after two seconds if nothing is missing', [data({ ...stop, usage })], 3],
    ['after two seconds without usage', [data(stop)], 3],
    ['immediately after the end marker', [data({ ...stop, usage }), utf8('data: [DONE]\n\n')], 0],
  ])('settles after the finish reason: %s', async (_name, pieces, expected) => {
    const { seconds, message, error } = await settledAfter(answered(pieces))
    expect(error).toBeUndefined()
    expect(message).toMatchObject({ stopReason: 'stop', content: [{ text: 'A' }] })
    expect(seconds).toBe(expected)
  })

  it("applies the caller's idle timeout", async () => {
    const { seconds, message } = await settledAfter(answered([data(stop)], 200, { idleTimeoutMs: 1000 }))
    expect(message?.stopReason).toBe('stop')
    expect(seconds).toBe(2)
  })

  it('reports an HTTP error with its status and the partial body', async () => {
    const { seconds, error } = await settledAfter(answered([utf8('{"error":{"message":"the kitchen is ')], 503))
    expect(error).toMatchObject({ code: 'api', status: 503, isRetryable: true, message: expect.stringContaining('the kitchen is') })
    expect(seconds).toBe(16)
  })
})

it('reads at most 64 KiB of an error body', async () => {
  let pulls = 0
  const endless = function* () {
    for (;;) {
      pulls++
      yield utf8('x'.repeat(16_384))
    }
  }
  const { body, outcome } = answered(endless(), 500)
  expect((await outcome).error).toMatchObject({ code: 'api', status: 500 })
  expect(body.isCancelled()).toBe(true)
  // One more may be under way.
  expect([4, 5]).toContain(pulls)
})

it('reads at most 16 Mi characters of tool arguments', async () => {
  const mebibyte = 1024 * 1024
  const call = (delta: object) => data({ id: '1', choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...delta }] } }] })
  const begin = call({ id: 'c1', function: { name: 'write', arguments: '{"text":"' } })
  const more = call({ function: { arguments: 'x'.repeat(mebibyte) } })
  let pulls = 0
  const pieces = function* () {
    yield begin
    for (;;) {
      pulls++
      yield more
    }
  }
  const { body, outcome } = answered(pieces())
  const { error } = await outcome
  expect(error).toMatchObject({
    code: 'api',
    isRetryable: false,
    message: 'The arguments of a tool call exceed 16777216 characters. Change the tool to accept them in parts.',
    partial: { content: [{ type: 'toolCall', name: 'write', arguments: {}, invalidArguments: expect.any(String) }] },
  })
  expect(body.isCancelled()).toBe(true)
  expect(pulls).toBeLessThan(20)
})

describe('a response without end', () => {
  const mebibyte = 1024 * 1024
  const words = data({ id: '1', choices: [{ index: 0, delta: { content: 'x'.repeat(mebibyte - 100) } }] })
  it.each([
    ['of text', words],
    ['of comment lines', utf8(`: ${'x'.repeat(mebibyte - 3)}\n`)],
    ['of one unfinished line', utf8('x'.repeat(mebibyte))],
  ])('reads at most 256 MiB %s', async (_, piece) => {
    let pulls = 0
    const pieces = function* () {
      for (;;) {
        pulls++
        yield piece
      }
    }
    const { body, outcome } = answered(pieces())
    const { error } = await outcome
    expect(error).toMatchObject({ code: 'network', isRetryable: false, message: expect.stringContaining('exceeds 268435456 bytes') })
    expect(body.isCancelled()).toBe(true)
    expect(pulls).toBeGreaterThan(255)
    expect(pulls).toBeLessThan(260)
  })
})
