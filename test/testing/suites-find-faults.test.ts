import { describe, expect, it } from 'vitest'
import { memorySessionStore } from '../../src/session/index.ts'
import { type FaultFetch, type ProviderFixture, sessionStoreSuite, streamProviderSuite, type TestRunner } from '../../src/testing/index.ts'
import { ProviderError } from '../../src/types/errors.ts'
import type { AssistantMessage } from '../../src/types/message.ts'
import type { Model } from '../../src/types/model.ts'
import type { StreamProvider } from '../../src/types/provider.ts'
import type { SessionStore, StoredSession } from '../../src/types/session-store.ts'
import { emptyUsage } from '../../src/types/usage.ts'

/** Runs a suite and gives back the names of the tests that failed. */
async function failures(suite: (runner: TestRunner) => void): Promise<string[]> {
  const tests: { name: string; body: () => void | Promise<void> }[] = []
  suite({ describe: (_name, body) => body(), it: (name, body) => tests.push({ name, body }), expect })
  const failed: string[] = []
  for (const { name, body } of tests) {
    try {
      await body()
    } catch {
      failed.push(name)
    }
  }
  return failed
}

function storeWith(fault: Partial<SessionStore>): () => SessionStore {
  return () => ({ ...memorySessionStore(), ...fault })
}

describe('sessionStoreSuite', () => {
  it('finds a store that keeps references', async () => {
    const create = (): SessionStore => {
      const kept = new Map<string, StoredSession>()
      const store = memorySessionStore()
      return {
        ...store,
        save: async (session) => {
          await store.save(session)
          kept.set(session.sessionId, session)
        },
        load: async (id) => kept.get(id) ?? (await store.load(id)),
      }
    }
    const failed = await failures((runner) => sessionStoreSuite(runner, { name: 'leaky', create }))
    expect(failed).toContain('stores a copy: changing the argument during or after the save has no effect')
    expect(failed).toContain('loads a copy: changing it has no effect')
  })

  it('finds a store without an order, and one that takes any id', async () => {
    const unordered = storeWith({ listIds: async () => [] })
    expect(await failures((runner) => sessionStoreSuite(runner, { name: 'x', create: unordered }))).toContain(
      'lists ids, most recently saved first',
    )
    const careless = storeWith({ delete: async () => false })
    expect(await failures((runner) => sessionStoreSuite(runner, { name: 'x', create: careless }))).toContain(
      'refuses the id "../up" in save, load and delete',
    )
  })
})

const fixture: ProviderFixture = {
  name: 'plain',
  body: 'Hello.\nEND',
  contentType: 'text/plain',
  terminal: 'END',
  expect: { text: 'Hello.', stopReason: 'stop' },
}

/** What the toy protocol below can get wrong. */
interface Faults {
  acceptsAnyEnd?: boolean
  emitsLate?: boolean
  ignoresAbort?: boolean
  quotesBody?: boolean
  decodesByChunk?: boolean
  followsRedirects?: boolean
}

function answered(text: string): AssistantMessage {
  const content = text === '' ? [] : [{ type: 'text' as const, text }]
  return { role: 'assistant', content, stopReason: 'stop', model: 'm', provider: 'toy', usage: emptyUsage(), timestamp: 1 }
}

/** A protocol whose answer is its text, a newline and `END`. Right, but for its faults. */
function toyProvider(fetch: FaultFetch, faults: Faults): StreamProvider {
  const headers = { authorization: 'Bearer canary-key' }
  const encoded = { url: 'https://toy.test/', headers, redactedHeaders: { authorization: '[redacted]' }, body: '{}', warnings: [] }
  const refused = async (response: Response): Promise<ProviderError> => {
    const said = await response.text()
    const code = response.status === 401 ? 'auth' : response.status === 429 ? 'rateLimited' : 'api'
    const options = {
      status: response.status,
      isRetryable: response.status === 429 || response.status >= 500,
      ...(response.status === 429 ? { retryAfterMs: 7000 } : {}),
    }
    return new ProviderError(code, `The toy service refused the call: ${faults.quotesBody === true ? said : response.status}`, options)
  }
  return {
    api: 'openAiCompletions',
    encode: async () => encoded,
    stream: async (_request, emit, signal) => {
      const message = answered('')
      const fail = (code: 'cancelled' | 'network', text: string) => new ProviderError(code, text, { partial: structuredClone(message) })
      let text = ''
      try {
        const redirect = faults.followsRedirects === true ? 'follow' : 'manual'
        const init = { method: 'POST', headers, body: encoded.body, redirect, ...(faults.ignoresAbort === true ? {} : { signal }) } as const
        const response = await fetch(encoded.url, init)
        if (!response.ok) throw await refused(response)
        emit({ type: 'start', message })
        const decoder = new TextDecoder()
        for await (const chunk of response.body ?? []) {
          text += faults.decodesByChunk === true ? new TextDecoder().decode(chunk.subarray(0, 3)) : decoder.decode(chunk, { stream: true })
        }
      } catch (error) {
        if (ProviderError.isInstance(error)) throw error
        throw fail(signal.aborted ? 'cancelled' : 'network', 'The toy connection broke before the end.')
      }
      const [said = '', end] = text.split('\n')
      if (!(end?.startsWith('END') ?? false) && faults.acceptsAnyEnd !== true) throw fail('network', 'The toy answer has no end.')
      message.content = answered(said).content
      if (said !== '') emit({ type: 'text', contentIndex: 0, delta: said })
      if (faults.emitsLate === true) setTimeout(() => emit({ type: 'text', contentIndex: 0, delta: '!' }), 0)
      return message
    },
  }
}

function toySuite(faults: Faults, only?: string): Promise<string[]> {
  const create = (fetch: FaultFetch): Model => ({
    config: {
      ...{ id: 'm', name: 'm', api: 'openAiCompletions', provider: 'toy', baseUrl: 'https://toy.test', reasoning: false },
      ...{ contextWindow: 1, maxTokens: 1, headers: {} },
      cost: { inputPerMillion: 0, outputPerMillion: 0, cacheReadPerMillion: 0, cacheWritePerMillion: 0 },
    },
    provider: toyProvider(fetch, faults),
    credentials: { current: () => 'canary-key', invalidate: () => undefined },
  })
  const keep = (name: string) => only === undefined || name.includes(only)
  return failures((runner) => {
    const chosen: TestRunner = { ...runner, it: (name, body) => (keep(name) ? runner.it(name, body) : undefined) }
    streamProviderSuite(chosen, { name: 'toy', create, fixtures: [fixture] })
  })
}

describe('streamProviderSuite', () => {
  it('has nothing against a provider that keeps the contract', async () => {
    expect(await toySuite({})).toEqual([])
  })

  it('finds success without a terminal event', async () => {
    const failed = await toySuite({ acceptsAnyEnd: true })
    expect(failed.some((name) => name.startsWith('cut at any byte (end)'))).toBe(true)
  })

  it('finds deltas after the end', async () => {
    expect(await toySuite({ emitsLate: true })).toContain('emits nothing after it settled')
  })

  it('finds decoding that depends on how the bytes arrive', async () => {
    expect(await toySuite({ decodesByChunk: true })).toContain('gives the same message and deltas however the bytes arrive')
  })

  it('finds the key in an error', async () => {
    expect(await toySuite({ quotesBody: true })).toContain('HTTP 401: fails with auth, without the key in anything printable')
  })

  it('finds redirects that are followed', async () => {
    const name = 'tells fetch not to follow redirects, because the key would go along'
    expect(await toySuite({ followsRedirects: true })).toEqual([name])
  })

  it('finds an abort that is ignored', async () => {
    expect(await toySuite({ ignoresAbort: true }, 'before it began')).toEqual([
      'aborted before it began: cancelled, and nothing is emitted',
    ])
  })
})
