import { describe, expect, it } from 'vitest'
import { ProviderError, SessionError } from '../../src/contract/errors.ts'
import type { AssistantMessage } from '../../src/contract/message/message.ts'
import { emptyUsage } from '../../src/contract/model/usage.ts'
import type { Session } from '../../src/contract/session/session.ts'
import { logSessionStore, memoryDriver } from '../../src/session.ts'
import type { Model } from '../../src/types/model/model.ts'
import type { StreamProvider } from '../../src/types/model/provider.ts'
import type { LogClaim, LogDriver, SessionStore, SessionSummary } from '../../src/types/session/session-store.ts'
import { type FaultFetch, type ProviderFixture, sessionStoreSuite, streamProviderSuite, type TestRunner } from '../../testing/index.ts'

/** Runs the tests of a suite that `isMeant` names, and returns the names of those that failed. */
async function failures(suite: (runner: TestRunner) => void, isMeant = (_name: string): boolean => true): Promise<string[]> {
  const tests: { name: string; body: () => void | Promise<void> }[] = []
  const add = (name: string, body: () => void | Promise<void>) => isMeant(name) && tests.push({ name, body })
  suite({ describe: (_name, body) => body(), it: add, expect })
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

type Fault = (driver: LogDriver) => Partial<LogDriver>

/** Expects each of these tests to fail on a store over a driver with a fault, as `wrap` shows it to others. */
async function expectFound(names: readonly string[], fault: Fault, wrap?: (store: SessionStore) => SessionStore): Promise<void> {
  const failed = await failures(faultyStore(fault, wrap), (name) => names.includes(name))
  expect(failed.toSorted()).toEqual(names.toSorted())
}

/** The suite on a store over a driver with a fault. */
function faultyStore(fault: Fault, wrap = (store: SessionStore): SessionStore => store) {
  const create = (): SessionStore => {
    const driver = memoryDriver()
    return wrap(logSessionStore({ ...driver, ...fault(driver) }))
  }
  return (runner: TestRunner) => sessionStoreSuite(runner, { name: 'faulty', create })
}

describe('sessionStoreSuite', () => {
  it('accepts a store that meets the contract', async () => {
    expect(await failures(faultyStore(() => ({})))).toEqual([])
  })

  it('detects unfenced writers', async () => {
    await expectFound(
      [
        'rejects the older of two writers, or reports the fork',
        'rejects an older writer even before the newer one writes',
        'rejects a writer after another client saves its session',
        'accepts only one of several concurrent writers, or reports the fork',
      ],
      (driver) => {
        const newest = new Map<string, LogClaim>()
        return {
          claim: async (sessionId, agentId) => {
            const claim = await driver.claim(sessionId, agentId)
            newest.set(sessionId, claim)
            return claim
          },
          append: (claim, lines) => driver.append(newest.get(claim.sessionId) ?? claim, lines),
        }
      },
    )
  })

  it('detects a claim that reads before it fences', async () => {
    await expectFound(['loses no acknowledged record while writers take over from each other'], (driver) => ({
      claim: async (sessionId, agentId) => {
        const lines = (await driver.read(sessionId, 0)) ?? []
        for (let count = 0; count < 5; count++) await undefined
        return { ...(await driver.claim(sessionId, agentId)), lines }
      },
    }))
  })

  it('detects acknowledgements before the record is visible', async () => {
    await expectFound(['acknowledges a record only when every reader can see it'], (driver) => ({
      append: async (claim, lines) => {
        setTimeout(() => void driver.append(claim, lines).catch(() => {}), 0)
      },
    }))
  })

  it('detects unordered lists, missing sessions and sessions without records', async () => {
    const order = 'lists ids, most recently written first'
    await expectFound([order], (driver) => ({
      list: async () => (await driver.list()).map((each) => ({ ...each, lastActiveAt: 0 })).reverse(),
    }))
    await expectFound([order], (driver) => ({ list: async () => (await driver.list()).slice(1) }))
    const claimed: SessionSummary[] = []
    await expectFound(['creates a session with the first record, not on open'], (driver) => ({
      claim: async (sessionId, agentId) => {
        claimed.push({ sessionId, agentId, createdAt: 0, lastActiveAt: 0, loops: 0, messages: 0 })
        return driver.claim(sessionId, agentId)
      },
      list: async () => claimed,
    }))
  })

  it('detects lost tails, also only after a cursor', async () => {
    await expectFound(['acknowledges a record only when every reader can see it'], (driver) => ({
      read: async (id, after) => (await driver.read(id, after))?.slice(0, -1),
    }))
    await expectFound(['returns records after a cursor, even while a writer is active'], (driver) => ({
      read: (id, after) => driver.read(id, after === 0 ? 0 : after + 1),
    }))
  })

  it('detects text changed in storage', async () => {
    const lossy = (driver: LogDriver): Partial<LogDriver> => ({
      append: (claim, lines) =>
        driver.append(
          claim,
          lines.map((line) => ({ ...line, text: line.text.replaceAll('\\u0000', '') })),
        ),
    })
    await expectFound(['stores any JSON value'], lossy)
    const small = (driver: LogDriver): Partial<LogDriver> => ({
      append: (claim, lines) =>
        driver.append(
          claim,
          lines.map((line) => ({ ...line, text: line.text.slice(0, 100_000) })),
        ),
    })
    await expectFound(['stores records of several megabytes'], small)
  })

  it('detects a store that deletes nothing or always reports a deletion', async () => {
    const name = 'deletes a session and returns whether it existed'
    await expectFound([name], () => ({ delete: async () => true }))
    await expectFound([name], (driver) => ({ delete: async (id) => !(await driver.delete(id)) }))
  })

  it('detects a deletion whose lines reappear in a recreated session', async () => {
    await expectFound(['creates an empty session under the id of a deleted one'], (driver) => {
      const kept = new Map<string, readonly string[]>()
      const withKept = (id: string, lines: readonly string[]) => [...(kept.get(id) ?? []), ...lines]
      return {
        delete: async (id) => {
          kept.set(id, withKept(id, (await driver.read(id, 0)) ?? []))
          return driver.delete(id)
        },
        claim: async (id, agentId) => {
          const claim = await driver.claim(id, agentId)
          return { ...claim, lines: withKept(id, claim.lines) }
        },
        read: async (id, after) => {
          const lines = await driver.read(id, after)
          return lines && withKept(id, lines)
        },
      }
    })
  })

  it('detects epochs that restart after a deletion and admit the old writer', async () => {
    await expectFound(['rejects the writer of a deleted session even if the session is created again'], (driver) => {
      const epochs = new Map<string, number>()
      const claims = new Map<string, LogClaim>()
      const keyOf = ({ sessionId, epoch }: LogClaim) => `${epoch} ${sessionId}`
      const current = (claim: LogClaim) => claims.get(keyOf(claim)) ?? claim
      return {
        claim: async (id, agentId) => {
          const claim = await driver.claim(id, agentId)
          epochs.set(id, (epochs.get(id) ?? 0) + 1)
          const given = { ...claim, epoch: epochs.get(id) ?? 0 }
          claims.set(keyOf(given), claim)
          return given
        },
        append: (claim, lines, digest) => driver.append(current(claim), lines, digest),
        release: (claim) => driver.release(current(claim)),
        delete: async (id) => {
          epochs.delete(id)
          return driver.delete(id)
        },
      }
    })
  })

  it('detects epochs that restart with every claim', async () => {
    await expectFound(['continues after the last record of the previous writer'], (driver) => {
      const inner = new WeakMap<LogClaim, LogClaim>()
      return {
        claim: async (id, agentId) => {
          const claim = await driver.claim(id, agentId)
          const given = { ...claim, epoch: 1 }
          inner.set(given, claim)
          return given
        },
        append: (claim, lines, digest) => driver.append(inner.get(claim) ?? claim, lines, digest),
        release: (claim) => driver.release(inner.get(claim) ?? claim),
      }
    })
  })

  it('detects a release that removes a newer claim', async () => {
    const name = 'lets the newer writer continue after an older one closes'
    await expectFound([name], (driver) => {
      const newest = new Map<string, LogClaim>()
      return {
        claim: async (id, agentId) => {
          const claim = await driver.claim(id, agentId)
          newest.set(id, claim)
          return claim
        },
        release: (claim) => driver.release(newest.get(claim.sessionId) ?? claim),
      }
    })
    await expectFound([name], (driver) => {
      const free = new Set<string>()
      return {
        claim: (id, agentId) => {
          free.delete(id)
          return driver.claim(id, agentId)
        },
        append: async (claim, lines, digest) => {
          if (free.has(claim.sessionId)) throw new SessionError('conflict', 'Nobody holds this session.')
          await driver.append(claim, lines, digest)
        },
        release: async (claim) => {
          free.add(claim.sessionId)
          await driver.release(claim)
        },
      }
    })
  })

  it('detects incomplete summaries, and pages that lose or repeat sessions', async () => {
    await expectFound(['lists title, times and counts for each session'], (driver) => ({
      append: (claim, lines) => driver.append(claim, lines),
    }))
    const pages = 'lists every session exactly once across pages'
    await expectFound([pages], (driver) => ({
      list: async ({ limit, ...query } = {}) => (await driver.list(query)).slice(0, (limit ?? 99) - 1),
    }))
    await expectFound([pages], (driver) => ({ list: async ({ limit } = {}) => (await driver.list()).slice(0, limit) }))
  })

  it('detects a store that keeps references', async () => {
    await expectFound(
      ['stores a copy, so that later changes to the argument have no effect', 'loads a copy, so that changes to it have no effect'],
      () => ({}),
      (store) => {
        const kept = new Map<string, Session>()
        const save = async (session: Session): Promise<void> => {
          await store.save(session)
          kept.set(session.sessionId, session)
        }
        return { ...store, save, load: async (id) => kept.get(id) ?? (await store.load(id)) }
      },
    )
  })

  it('detects a store that accepts any id', async () => {
    await expectFound(
      ['rejects the id "../up" in save, load, tail, open and delete'],
      () => ({}),
      (store) => ({ ...store, delete: async () => false }),
    )
  })

  it('detects broken promises that are not declared as eventual', async () => {
    const create = (): SessionStore => {
      const driver = memoryDriver()
      let visible: readonly string[] | undefined
      const read = async (sessionId: string, after: number): Promise<readonly string[] | undefined> => {
        const seen = visible
        visible = await driver.read(sessionId, after)
        return seen
      }
      return logSessionStore({ ...driver, read })
    }
    const failed = await failures((runner) => sessionStoreSuite(runner, { name: 'late', create, settle: () => Promise.resolve() }))
    expect(failed).toContain('loads a saved session')
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
    const body = await response.text()
    const code = response.status === 401 ? 'auth' : response.status === 429 ? 'rateLimited' : 'api'
    const options = {
      status: response.status,
      isRetryable: response.status === 429 || response.status >= 500,
      ...(response.status === 429 ? { retryAfterMs: 7000 } : {}),
    }
    return new ProviderError(code, `The toy service refused the call: ${faults.quotesBody === true ? body : response.status}`, options)
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
      const [body = '', end] = text.split('\n')
      if (!(end?.startsWith('END') ?? false) && faults.acceptsAnyEnd !== true) throw fail('network', 'The toy answer has no end.')
      message.content = answered(body).content
      if (body !== '') emit({ type: 'text', contentIndex: 0, delta: body })
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
  it('accepts a provider that meets the contract', async () => {
    expect(await toySuite({})).toEqual([])
  })

  it('detects success without a terminal event', async () => {
    const failed = await toySuite({ acceptsAnyEnd: true })
    expect(failed.some((name) => name.endsWith('cut at any byte (end)'))).toBe(true)
  })

  it('detects deltas after the end', async () => {
    expect(await toySuite({ emitsLate: true })).toContain('emits no events after it settles')
  })

  it('detects decoding that depends on chunk boundaries', async () => {
    expect(await toySuite({ decodesByChunk: true })).toContain('returns the same message and deltas however the bytes are split')
  })

  it('detects the key in an error', async () => {
    expect(await toySuite({ quotesBody: true })).toContain('fails with auth without exposing the key: HTTP 401')
  })

  it('detects followed redirects', async () => {
    const name = 'does not let fetch follow redirects, because they would forward the key'
    expect(await toySuite({ followsRedirects: true })).toEqual([name])
  })

  it('detects an ignored abort', async () => {
    expect(await toySuite({ ignoresAbort: true }, 'before the call')).toEqual([
      'rejects as cancelled and emits no events if aborted before the call',
    ])
  })
})
