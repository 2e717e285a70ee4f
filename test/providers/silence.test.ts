import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { type CompatibleOptions, local, openaiCompatible } from '../../src/providers/openai.ts'
import type { TransportOptions } from '../../src/providers.ts'
import type { Model } from '../../src/types/model/model.ts'
import { type Play, playing } from '../support/playing.ts'
import { sse, utf8 } from './bytes.ts'
import { outcomeOf, plainRequest } from './model-call.ts'

const minute = 60_000
const whole = sse(
  { choices: [{ index: 0, delta: { content: 'A' }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1 } },
  '[DONE]',
)
const part = sse({ choices: [{ index: 0, delta: { content: 'A' } }] })
const ping = utf8(': ping\n\n')

const chat = (options: Partial<CompatibleOptions>) => openaiCompatible('m', { baseUrl: 'http://127.0.0.1:9', ...options })

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** What a call comes to, and after how many ms. */
async function settled({ provider, config }: Model) {
  const began = Date.now()
  let tookMs: number | undefined
  const call = outcomeOf(provider, plainRequest(config)).finally(() => {
    tookMs = Date.now() - began
  })
  for (let passed = 0; tookMs === undefined && passed < 300; passed++) await vi.advanceTimersByTimeAsync(minute / 2)
  const { message, error } = await call
  return { message, error, tookMs: tookMs ?? 0 }
}

const thinksFirst: Play = [
  [9 * minute, 'headers'],
  [30_000, part],
  [4 * minute, whole],
]
const headersFirst: Play = [
  [1000, 'headers'],
  [9 * minute, part],
  [4 * minute, whole],
]

describe('a silent provider', () => {
  it.each([
    ['before its headers', thinksFirst],
    ['after its headers', headersFirst],
    ['except pings', [[0, 'headers'], ...Array.from({ length: 9 }, () => [minute, ping] as const), [30_000, whole]] as Play],
  ])('accepts nine minutes of silence %s', async (_name, play) => {
    const { message, error } = await settled(chat({ fetch: playing(play) }))
    expect(error).toBeUndefined()
    expect(message).toMatchObject({ stopReason: 'stop' })
  })

  it.each<[string, Play, number, string]>([
    ['that never responds', [], 10, 'nothing for 600000 ms (firstByteTimeoutMs)'],
    ['that sends only headers', [[0, 'headers']], 10, 'nothing for 600000 ms (firstByteTimeoutMs)'],
    [
      'that stops midway',
      [
        [0, 'headers'],
        [0, part],
      ],
      5,
      'nothing for 300000 ms (idleTimeoutMs)',
    ],
    [
      'that only pings after its first text',
      [[0, 'headers'], [0, part], ...Array.from({ length: 30 }, () => [minute, ping] as const)],
      10,
      'no content for 600000 ms (progressTimeoutMs)',
    ],
  ])('times out a stream %s, and allows one retry', async (_name, play, minutes, words) => {
    vi.setSystemTime(0)
    const { error, tookMs } = await settled(chat({ fetch: playing(play) }))
    expect(error).toMatchObject({ code: 'network', isRetryable: true, maxRetries: 1, message: expect.stringContaining(words) })
    expect(tookMs).toBeGreaterThanOrEqual(minutes * minute)
    expect(tookMs).toBeLessThanOrEqual(minutes * minute + 2000)
    vi.clearAllTimers()
  })

  it.each<[string, Partial<TransportOptions>, Play, number]>([
    ['firstByteTimeoutMs', { firstByteTimeoutMs: 2 * minute }, [], 2],
    [
      'idleTimeoutMs',
      { idleTimeoutMs: 2 * minute },
      [
        [0, 'headers'],
        [0, part],
      ],
      2,
    ],
    [
      'progressTimeoutMs',
      { progressTimeoutMs: 2 * minute, idleTimeoutMs: false },
      [
        [0, 'headers'],
        [0, part],
      ],
      2,
    ],
  ])('fails after the configured limit, %s, in every factory', async (limit, options, play, minutes) => {
    for (const model of [chat({ ...options, fetch: playing(play) }), anthropic('m', { ...options, apiKey: 'k', fetch: playing(play) })]) {
      const { error, tookMs } = await settled(model)
      if (model.config.api === 'anthropicMessages' && play.length > 0) continue
      expect(error).toMatchObject({ message: expect.stringContaining(`(${limit})`) })
      expect(tookMs).toBeLessThanOrEqual(minutes * minute + 2000)
    }
  })
})

describe('a local server with a long prompt', () => {
  const slow: Play = [
    [50 * minute, 'headers'],
    [30 * minute, whole],
  ]
  it.each<[string, () => Model]>([
    ['local()', () => local('m', { baseUrl: 'http://127.0.0.1:9', fetch: playing(slow) })],
    ...(['ollama', 'lmstudio', 'vllm', 'llamacpp'] as const).map((backend): [string, () => Model] => [
      backend,
      () => openaiCompatible('m', { backend, fetch: playing(slow) }),
    ]),
  ])('sets no time limit for a local server: %s', async (_name, make) => {
    expect((await settled(make())).message).toMatchObject({ stopReason: 'stop' })
  })

  it('applies a configured timeout to a local server', async () => {
    const { error } = await settled(local('m', { baseUrl: 'http://127.0.0.1:9', fetch: playing(slow), firstByteTimeoutMs: minute }))
    expect(error).toMatchObject({ message: expect.stringContaining('(firstByteTimeoutMs)') })
    vi.clearAllTimers()
  })
})

describe("the runtime's own fetch", () => {
  let server: Server | undefined
  afterEach(() => {
    server?.close()
  })

  it('disables the timeouts of the connection pool', async () => {
    vi.useRealTimers()
    server = createServer((_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(whole))
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
    const key = Symbol.for('undici.globalDispatcher.1')
    const own: { dispatch: (options: object, handler: unknown) => boolean } = Reflect.get(globalThis, key)
    const seen: unknown[] = []
    Reflect.set(globalThis, key, {
      dispatch: (options: object, handler: unknown) => {
        seen.push(options)
        return own.dispatch(options, handler)
      },
    })
    try {
      const { provider, config } = local('m', { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` })
      expect((await outcomeOf(provider, plainRequest(config))).message).toMatchObject({ stopReason: 'stop' })
    } finally {
      Reflect.set(globalThis, key, own)
    }
    expect(seen).toMatchObject([{ headersTimeout: 0, bodyTimeout: 0 }])
  })
})
