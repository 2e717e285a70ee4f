import { describe, expect, it } from 'vitest'
import { Agent, type AgentOptions, ProviderError } from '../../../src/index.ts'
import { openai } from '../../../src/providers/openai.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { SessionError, type SessionErrorCode } from '../../../src/session.ts'
import { play } from '../../support/play.ts'

const broken = (): never => {
  throw new Error('no index')
}

describe('failures in application code', () => {
  it.each<[string, Partial<AgentOptions>]>([
    ['transformContext', { transformContext: broken }],
    ['transformContext', { transformContext: async () => broken() }],
    ['transformContext', { transformContext: () => 'all' as never }],
    ['transformContext', { transformContext: () => [{ role: 'user', content: 7 }] as never }],
    ['convertToLlm', { convertToLlm: broken }],
    ['convertToLlm', { convertToLlm: () => undefined as never }],
    ['convertToLlm', { convertToLlm: () => [null] as never }],
    ['contextTranslation', { contextTranslation: broken }],
    ['contextTranslation', { contextTranslation: () => 7 as never }],
    ['beforeTurn', { hooks: { beforeTurn: broken } }],
    ['beforeLoop', { hooks: { beforeLoop: broken } }],
  ])('reports that %s failed, sends no request and allows a continuation', async (name, options) => {
    const { agent, model, result } = await play([{ text: 'fine' }], options)
    expect(result).toMatchObject({ status: 'error', error: { message: expect.stringContaining(name) } })
    expect(model.provider.requests).toEqual([])
    agent.configure({ transformContext: undefined, convertToLlm: undefined, contextTranslation: undefined, hooks: undefined })
    expect((await agent.send('again').result).text).toBe('fine')
  })

  it('accepts messages in the short input form from transformContext', async () => {
    const { model } = await play([{ text: 'ok' }], {
      transformContext: (messages) => [...messages, { role: 'user', content: 'P.S.' }] as never,
    })
    expect(model.provider.requests[0]?.messages.at(-1)).toMatchObject({ content: [{ type: 'text', text: 'P.S.' }] })
  })
})

describe('a model key that cannot be obtained', () => {
  it.each<[string, unknown, RegExp]>([
    ['a function that throws', broken, /credentials failed: no index/],
    ['a function that returns undefined', async () => undefined, /apiKey\(\) returned no key/],
    ['a function that returns a blank', () => ' ', /apiKey\(\) returned no key/],
    [
      'a provider that returns undefined',
      { current: () => undefined, invalidate: () => undefined },
      /current\(\) of the credential provider returned no key/,
    ],
  ])('ends the run without a request or retry: %s', async (_, apiKey, message) => {
    let calls = 0
    const fetch = async () => new Response(String(++calls), { status: 500 })
    const result = await new Agent({ model: openai('m', { apiKey: apiKey as never, fetch }) }).prompt('go').result
    expect(result).toMatchObject({ status: 'error', error: { message: expect.stringMatching(message) } })
    expect(calls).toBe(0)
  })

  it('calls an async key function before each request and again after a rejection', async () => {
    const keys: string[] = []
    const fetch = async (_: unknown, init?: RequestInit) => {
      keys.push(new Headers(init?.headers).get('authorization') ?? '')
      return new Response('{"error":{"message":"bad key"}}', { status: 401 })
    }
    let count = 0
    const apiKey = async (signal: AbortSignal) => `key-${signal.aborted ? 'never' : ++count}`
    expect((await new Agent({ model: openai('m', { apiKey, fetch }) }).prompt('go').result).error?.code).toBe('auth')
    expect(keys).toEqual(['Bearer key-1', 'Bearer key-2'])
  })
})

describe('a journal that rejects a record', () => {
  it.each<SessionErrorCode>(['quota', 'conflict', 'io', 'newerSchema'])('preserves the error code of its store: %s', async (code) => {
    const journal = { append: () => Promise.reject(new SessionError(code, 'refused')) }
    const { result, events } = await play([], { journal })
    const error = { code: 'journal', message: expect.stringContaining('refused'), cause: { code, message: 'refused' } }
    expect(result).toMatchObject({ status: 'error', error })
    expect(events.at(-1)).toMatchObject({ type: 'agentEnd', error })
  })

  it('omits the cause of an unknown error from the result', async () => {
    const { result } = await play([], { journal: { append: () => Promise.reject(new Error('disk sda1')) } })
    expect(result.error).not.toHaveProperty('cause')
    const model = scripted([])
    const provider = {
      api: 'scripted',
      encode: model.provider.encode,
      stream: () => Promise.reject(new ProviderError('api', 'down', { cause: new Error('x') })),
    }
    expect((await new Agent({ model: { ...model, provider } }).prompt('go').result).error).toEqual({ code: 'api', message: 'down' })
  })
})
