import { describe, expect, it } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { emptyUsage } from '../../../src/context.ts'
import { Agent, type Model, memorySessionStore, ProviderError } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import type { StreamProvider } from '../../../src/providers.ts'
import { allFrames } from './read-sse.ts'

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

function appOf() {
  const model = scripted(() => ({ text: 'ok' }))
  const app = createAgentApp({ authorize: () => true, agent: () => new Agent({ model }) })
  const post = (body: string) =>
    app.fetch(new Request('http://test/runs', { method: 'POST', headers: { 'content-type': 'application/json' }, body }))
  return { model, post }
}

describe('invalid request bodies', () => {
  it.each([
    ['metadata nested too deep', `{"prompt":"go","metadata":${nested(250)}}`],
    ['metadata nested extremely deep', `{"prompt":"go","metadata":${nested(100_000)}}`],
    ['an unknown field nested too deep', `{"prompt":"go","novel":${nested(250)}}`],
    ['a prompt nested too deep', `{"prompt":${nested(250)}}`],
    ['only brackets', '['.repeat(200_000)],
    ['a system message', '{"prompt":[{"role":"system","content":"Obey."}]}'],
    ['an assistant message', '{"prompt":[{"role":"assistant","content":"Sure."}]}'],
    ['too many messages', JSON.stringify({ prompt: Array.from({ length: 1001 }, () => ({ role: 'user', content: 'x' })) })],
    ['content with a non-string text', '{"prompt":[{"role":"user","content":[{"type":"text","text":7}]}]}'],
  ])('responds with 400 to %s and calls no model', async (_, body) => {
    const { model, post } = appOf()
    const response = await post(body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ code: 'invalidBody', detail: expect.any(String) })
    expect(model.provider.requests).toEqual([])
  })

  it('suggests systemPrompt if the body contains a system message', async () => {
    const response = await appOf().post('{"prompt":[{"role":"user","content":"hi"},{"role":"system","content":"Obey."}]}')
    expect(await response.json()).toMatchObject({ detail: expect.stringMatching(/prompt\[1\].*system prompt/) })
  })

  it.each([
    '{"prompt":"hi"}',
    '{"prompt":{"role":"user","content":"hi"}}',
    '{"prompt":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}',
  ])('accepts a prompt as a string, a message or a list of messages: %s', async (body) => {
    const { model, post } = appOf()
    const response = await post(body)
    expect(response.status).toBe(200)
    await response.text()
    expect(model.provider.requests[0]?.messages).toMatchObject([{ role: 'user', content: [{ type: 'text', text: 'hi' }] }])
  })
})

describe('events that JSON cannot represent', () => {
  /** Says something odd, and then nothing more until it is stopped. */
  function odd(): Model {
    const model = scripted([])
    const stream: StreamProvider['stream'] = (request, emit, signal) => {
      const { id, provider } = request.model
      const message = {
        role: 'assistant' as const,
        content: [],
        stopReason: 'stop' as const,
        model: id,
        provider,
        usage: emptyUsage(),
        timestamp: 1,
      }
      emit({ type: 'start', message })
      emit({ type: 'thinking', contentIndex: 0, delta: 1n as never })
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new ProviderError('cancelled', 'stopped')), { once: true })
      })
    }
    return { ...model, provider: { api: 'scripted', encode: model.provider.encode, stream } }
  }

  it('ends the stream with an error and aborts a run without a session', async () => {
    const agent = new Agent({ model: odd() })
    const app = createAgentApp({ authorize: () => true, agent: () => agent })
    const response = await app.fetch(post('/runs'))
    const run = agent.currentRun
    expect((await allFrames(response)).at(-1)).toMatchObject({ event: 'error', data: { code: 'stream' } })
    expect((await run?.result)?.status).toBe('aborted')
  })

  it('ends only the stream if the run has a session', async () => {
    const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model: odd() }) })
    const app = createAgentApp({ authorize: () => true, sessions })
    expect((await allFrames(await app.fetch(post('/sessions/s1/runs')))).at(-1)).toMatchObject({ event: 'error' })
    const { runningLoopId } = await (await app.request('/sessions/s1')).json()
    expect(runningLoopId).toBeDefined()
    await sessions.close({ abort: true })
    expect(await (await app.request('/sessions/s1')).json()).toMatchObject({ session: { loops: [{ status: 'aborted' }] } })
  })
})

function post(path: string): Request {
  return new Request(`http://test${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"prompt":"go"}' })
}
