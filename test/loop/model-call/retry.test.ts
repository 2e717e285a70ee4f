import { describe, expect, it } from 'vitest'
import { retryDelayMs } from '../../../src/base/timer.ts'
import {
  Agent,
  type AgentEvent,
  type CredentialProvider,
  type Logger,
  type Model,
  memorySessionStore,
  ProviderError,
  type ProviderErrorCode,
} from '../../../src/index.ts'
import { type ScriptedStep, scripted } from '../../../src/providers/scripted/index.ts'
import { grammarFaults } from '../../support/grammar.ts'
import { fastRetry, gate, ofType, outline, play, playOn } from '../../support/play.ts'

const fail = (code: ProviderErrorCode, more: object = {}): ScriptedStep => ({ fail: { code, message: `${code}!`, ...more } })

describe('retry', () => {
  it('retries rate-limited calls with one event and one warning each', async () => {
    const warnings: string[] = []
    const logger: Logger = { warn: (event) => warnings.push(event) }
    const { events, model, result } = await play([fail('rateLimited', { retryAfterMs: 1 }), fail('rateLimited'), { text: 'ok' }], {
      logger,
    })
    expect(result).toMatchObject({ status: 'completed', text: 'ok' })
    expect(model.provider.requests).toHaveLength(3)
    expect(ofType(events, 'providerRetry')).toMatchObject([
      { attempt: 1, delayMs: 1, afterOutput: false, error: { code: 'rateLimited' } },
      { attempt: 2, maxRetries: 3 },
    ])
    expect(warnings).toEqual(['providerRetry', 'providerRetry'])
    expect(outline(events).filter((line) => line.includes('assistant'))).toEqual(['messageStart assistant', 'messageEnd assistant'])
  })

  it('ends the run with the error after maxRetries', async () => {
    const { events, model, result } = await play([1, 2, 3, 4, 5].map(() => fail('network')))
    expect(model.provider.requests).toHaveLength(4)
    expect(result).toMatchObject({ status: 'error', error: { code: 'network', message: 'network! Tried 4 times.' } })
    expect(result.messages.at(-1)).toMatchObject({ role: 'assistant', stopReason: 'error', errorMessage: 'network! Tried 4 times.' })
    expect(grammarFaults(events)).toEqual([])
  })

  it.each<ProviderErrorCode>(['auth', 'api', 'contextOverflow', 'schemaMismatch', 'other'])(
    'does not retry an error with code %s',
    async (code) => {
      const { model, result } = await play([fail(code), { text: 'never' }])
      expect(model.provider.requests).toHaveLength(1)
      expect(result.error?.code).toBe(code)
    },
  )

  it('does not retry with maxRetries 0', async () => {
    const { model } = await play([fail('network'), { text: 'never' }], { retry: { ...fastRetry, maxRetries: 0 } })
    expect(model.provider.requests).toHaveLength(1)
  })

  it('sends an identical request on a retry', async () => {
    const { model } = await play([fail('network'), { text: 'ok' }])
    const [first, second] = model.provider.requests
    expect(second).toEqual(first)
  })

  it('ends the failed message after output and starts a new one', async () => {
    const { events, result } = await play([
      { text: 'Half an ans', fail: { code: 'network', message: 'cut', afterText: true } },
      { text: 'Answer' },
    ])
    expect(ofType(events, 'providerRetry')).toMatchObject([{ afterOutput: true }])
    expect(result.messages.map((message) => (message.role === 'assistant' ? message.stopReason : message.role))).toEqual([
      'user',
      'error',
      'stop',
    ])
    expect(result.text).toBe('Answer')
    expect(grammarFaults(events)).toEqual([])
  })

  it('stops waiting immediately on an abort', async () => {
    const agent = new Agent({
      model: scripted([fail('network'), { text: 'never' }]),
      retry: { ...fastRetry, initialDelayMs: 3_600_000, maxDelayMs: 3_600_000 },
    })
    const run = agent.prompt('go')
    const events: AgentEvent[] = []
    run.subscribe((event) => {
      events.push(event)
      if (event.type === 'providerRetry') run.abort()
    })
    expect((await run.result).status).toBe('aborted')
    expect(grammarFaults(events)).toEqual([])
  })

  it("waits for the provider's delay of up to a minute, or else a random backoff", () => {
    const config = { maxRetries: 3, initialDelayMs: 1000, backoffMultiplier: 2, maxDelayMs: 3000 }
    const asked = Array.from({ length: 200 }, () => retryDelayMs(1, config, 5000))
    expect(Math.min(...asked)).toBeGreaterThanOrEqual(5000)
    expect(Math.max(...asked)).toBeLessThanOrEqual(6250)
    expect(new Set(asked).size).toBeGreaterThan(50)
    expect(retryDelayMs(1, config, 9_000_000)).toBeLessThanOrEqual(75_000)
    for (const nonsense of [-5, Number.NaN]) expect(retryDelayMs(3, config, nonsense)).toBeLessThan(3000)
    for (const [attempt, base] of [
      [1, 1000],
      [2, 2000],
      [3, 3000],
    ] as const) {
      const delays = Array.from({ length: 200 }, () => retryDelayMs(attempt, config))
      expect(Math.min(...delays)).toBeLessThan(base / 2)
      expect(Math.max(...delays)).toBeLessThan(base)
    }
  })
})

describe('a provider that requests a very long delay', () => {
  it.each([
    [60_000, true],
    [60_001, false],
    [7_200_000, false],
  ])('retries after %d ms: %s', async (retryAfterMs, isRepeated) => {
    const agent = new Agent({ model: scripted([fail('rateLimited', { retryAfterMs }), { text: 'ok' }]) })
    const run = agent.prompt('go')
    const waits: number[] = []
    run.subscribe((event) => {
      if (event.type !== 'providerRetry') return
      waits.push(event.delayMs)
      run.abort()
    })
    const { status, error } = await run.result
    expect(waits.length > 0).toBe(isRepeated)
    if (isRepeated) return
    expect(status).toBe('error')
    expect(error).toMatchObject({ code: 'rateLimited', message: expect.stringContaining(`${Math.ceil(retryAfterMs / 1000)} s, until 20`) })
  })
})

describe('a provider that requests an invalid delay', () => {
  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, '5' as never])(
    'ignores a delay of %s ms and keeps the session readable',
    async (retryAfterMs) => {
      const { config } = scripted([])
      const provider: Model['provider'] = {
        api: 'scripted',
        encode: (request) => scripted([]).provider.encode(request),
        stream: async () => {
          // Also one of another version of the package, which takes all.
          throw Object.assign(new ProviderError('api', 'No.', { retryAfterMs, isRetryable: false }), { retryAfterMs })
        },
      }
      const session = memorySessionStore()
      const { error } = await new Agent({ model: { config, provider }, session, sessionId: 's' }).prompt('go').result
      expect(error).toEqual({ code: 'api', message: 'No.' })
      expect((await session.load('s')).loops[0]).toMatchObject({ status: 'error', error: { code: 'api' } })
    },
  )
})

describe('a ProviderError with maxRetries', () => {
  it('retries at most as often as the error allows', async () => {
    const { config } = scripted([])
    let calls = 0
    const provider: Model['provider'] = {
      api: 'scripted',
      encode: (request) => scripted([]).provider.encode(request),
      stream: async () => {
        calls += 1
        throw new ProviderError('network', 'silence', { maxRetries: 1 })
      },
    }
    const { result, events } = await playOn({ config, provider })
    expect(calls).toBe(2)
    expect(result.error?.message).toBe('silence. Tried 2 times.')
    expect(ofType(events, 'providerRetry')).toMatchObject([{ attempt: 1, maxRetries: 1 }])
  })
})

describe('an empty response', () => {
  it('repeats the request once', async () => {
    const { events, result, model } = await play([{ usage: { input: 5 } }, { text: 'there' }])
    expect(result).toMatchObject({ status: 'completed', text: 'there', usage: { input: expect.any(Number) } })
    expect(result.usage.input).toBeGreaterThanOrEqual(5)
    expect(result.isEmpty).toBeUndefined()
    expect(model.provider.requests).toHaveLength(2)
    expect(ofType(events, 'providerRetry')).toMatchObject([{ error: { code: 'api' }, afterOutput: false }])
    expect(result.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(grammarFaults(events)).toEqual([])
  })

  it('completes with a warning after a second empty response', async () => {
    const warnings: string[] = []
    const { result, model, events } = await play([{}, { text: ' ' }, { text: 'never' }], {
      logger: { warn: (event) => warnings.push(event) },
    })
    expect(result).toMatchObject({ status: 'completed', isEmpty: true })
    expect(model.provider.requests).toHaveLength(2)
    expect(warnings).toEqual(['providerRetry', 'emptyAnswer'])
    expect(grammarFaults(events)).toEqual([])
  })

  it('completes with isEmpty if retries are off', async () => {
    const { result, model } = await play([{}, { text: 'never' }], { retry: false })
    expect(result).toMatchObject({ status: 'completed', isEmpty: true })
    expect(model.provider.requests).toHaveLength(1)
  })
})

describe('credentials', () => {
  /** A model whose service accepts only the key `good`. */
  function guarded(current: () => string) {
    const seen: (string | undefined)[] = []
    let invalidated = 0
    const model = scripted((request) => {
      seen.push(request.credential)
      if (request.credential !== 'good') throw new ProviderError('auth', 'bad key')
      return { text: 'ok' }
    })
    const credentials = { current, invalidate: () => void invalidated++ }
    const withKey: Model = { ...model, credentials }
    return { model: withKey, seen, invalidated: () => invalidated }
  }

  it('requests the key once per call', async () => {
    const service = guarded(() => 'good')
    expect((await new Agent({ model: service.model }).prompt('go').result).text).toBe('ok')
    expect(service.seen).toEqual(['good'])
  })

  it('refreshes a rejected key and repeats the call without counting a retry', async () => {
    const keys = ['stale', 'good']
    const service = guarded(() => keys.shift() ?? '')
    const agent = new Agent({ model: service.model, retry: { ...fastRetry, maxRetries: 0 } })
    const run = agent.prompt('go')
    const events: AgentEvent[] = []
    run.subscribe((event) => events.push(event))
    expect((await run.result).text).toBe('ok')
    expect(service.invalidated()).toBe(1)
    expect(ofType(events, 'providerRetry')).toEqual([])
  })

  it('does not request a key if the run is aborted before the call', async () => {
    let asked = 0
    const service = guarded(() => `key ${asked++}`)
    const run = new Agent({ model: service.model }).prompt('go')
    run.subscribe((event) => event.type === 'messageEnd' && run.abort())
    expect((await run.result).status).toBe('aborted')
    expect(asked).toBe(0)
  })

  it.each<[string, CredentialProvider['current']]>([
    ['rejects', () => Promise.reject(new Error('vault is sealed'))],
    ['throws', () => JSON.parse('{')],
  ])('ends the run with an error if current %s', async (_, current) => {
    const model: Model = { ...scripted([]), credentials: { current, invalidate: () => undefined } }
    const result = await new Agent({ model }).prompt('go').result
    expect(result).toMatchObject({ status: 'error', error: { code: 'other', message: expect.any(String) } })
  })

  it('does not delay an abort when current() hangs', async () => {
    const asked = gate()
    const current = () => {
      asked.open()
      return new Promise<string>(() => undefined)
    }
    const model: Model = { ...scripted([]), credentials: { current, invalidate: () => undefined } }
    const run = new Agent({ model }).prompt('go')
    await asked.opened
    run.abort()
    expect((await run.result).status).toBe('aborted')
  })

  it.each<[string, () => void | Promise<void>]>([
    ['throws', () => JSON.parse('{')],
    ['rejects', () => Promise.reject(new Error('vault is sealed'))],
  ])('repeats the call once and logs an invalidation that %s', async (_, invalidate) => {
    const warnings: string[] = []
    const keys = ['stale', 'good']
    const { model: guardedModel } = guarded(() => '')
    const model: Model = { ...guardedModel, credentials: { current: () => keys.shift() ?? '', invalidate } }
    const result = await new Agent({ model, logger: { warn: (event) => warnings.push(event) } }).prompt('go').result
    expect(result.text).toBe('ok')
    expect(warnings).toEqual(['credentialInvalidateFailed'])
  })

  it('does not retry a rejected key without a credential provider', async () => {
    const { model, seen, invalidated } = guarded(() => 'stale')
    const { credentials: _, ...keyless } = model
    const { error } = await new Agent({ model: keyless }).prompt('go').result
    expect([error?.code, seen, invalidated()]).toEqual(['auth', [undefined], 0])
  })

  it('ends the run with an auth error after a second rejection', async () => {
    const service = guarded(() => 'stale')
    expect((await new Agent({ model: service.model }).prompt('go').result).error?.code).toBe('auth')
    expect(service.seen).toEqual(['stale', 'stale'])
  })

  it('omits the key from events, history and results', async () => {
    const service = guarded(() => 'sk-secret-canary')
    const agent = new Agent({ model: service.model })
    const run = agent.prompt('go')
    const events: AgentEvent[] = []
    run.subscribe((event) => events.push(event))
    const result = await run.result
    expect(JSON.stringify([events, result, agent.messages, agent.settings])).not.toContain('sk-secret-canary')
  })
})

describe('a response with only thinking', () => {
  it('repeats the request once', async () => {
    const { result } = await play([{ thinking: 'A drink?' }, { text: 'Tea.' }])
    expect(result).toMatchObject({ status: 'completed', text: 'Tea.' })
  })

  it('completes with isEmpty if no text follows', async () => {
    const { result } = await play(() => ({ thinking: 'A drink?' }))
    expect(result).toMatchObject({ status: 'completed', text: '', isEmpty: true })
  })
})
