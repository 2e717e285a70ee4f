import { afterAll, expect, it } from 'vitest'
import { baseUrl } from '../../../harness/env.ts'
import { startConfigured } from '../../../workers/test-harness.ts'
import { allFrames } from '../../http/read-sse.ts'
import { readUntil, textIn } from './live-client.ts'

const model = `/anthropic/slow/${crypto.randomUUID()}`
const worker = await startConfigured('examples/cloudflare/live-sessions.toml', {
  ANTHROPIC_API_KEY: 'test-key',
  ANTHROPIC_BASE_URL: `${baseUrl()}${model}`,
  ACCESS_TOKEN: 'a-test-token',
})
afterAll(() => worker.close())

function ask(path: string, init: RequestInit = {}, token = 'a-test-token'): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...init.headers }
  return fetch(new URL(path, worker.url), { ...init, headers })
}

it('continues a run without its client in ./examples/cloudflare/live-sessions.ts', async () => {
  const started = await ask('/sessions/mine/runs', { method: 'POST', body: JSON.stringify({ prompt: 'Hi.' }) })
  const before = await readUntil(started, 'messageUpdate')
  const { id, data } = before.at(-1) ?? {}
  const events = await ask(`/sessions/mine/runs/${data.loopId}/events`, { headers: { 'last-event-id': `${id}` } })
  await fetch(`${baseUrl()}/release${model}`)
  expect(textIn(before) + textIn(await allFrames(events))).toBe('Hello, world.')
  expect(await (await ask('/sessions')).json()).toMatchObject({ sessions: [{ sessionId: 'mine', loops: 1, messages: 2 }] })
  const { session } = await (await ask('/sessions/mine')).json()
  expect(session.loops).toMatchObject([{ loopId: data.loopId, messages: [{ role: 'user' }, { role: 'assistant' }] }])
  expect((await ask('/sessions', {}, 'wrong')).status).toBe(401)
})

it('rejects all requests without a token in ./examples/cloudflare/live-sessions.ts', async () => {
  const unset = await startConfigured('examples/cloudflare/live-sessions.toml', { ANTHROPIC_API_KEY: 'test-key' })
  try {
    for (const authorization of ['Bearer undefined', 'Bearer', 'undefined', 'Bearer null']) {
      expect((await fetch(new URL('/sessions/mine', unset.url), { headers: { authorization } })).status).toBe(401)
    }
  } finally {
    await unset.close()
  }
})
