import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import app from '../../../adapters/cloudflare/worker.ts'
import { baseUrl } from '../../harness/env.ts'
import { serve } from '../../harness/serve.ts'
import { meet } from '../../support/three-clients.ts'
import { allFrames, frames } from '../http/read-sse.ts'
import anthropicWorker from './anthropic-worker.ts'
import { type WranglerDev, wranglerDev } from './wrangler-dev.ts'

/** Routes of sessions are not asked here. */
const noObjects = {
  SESSIONS: { getByName: () => ({ fetch: async () => new Response() }) },
  INDEX: { getByName: () => ({ fetch: async () => new Response() }) },
}

const json = { 'content-type': 'application/json' }

function post(url: string, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
  const init = { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify({ prompt: 'What time is it?' }) }
  return fetch(`${url}/runs`, signal === undefined ? init : { ...init, signal })
}

async function expectScriptedRun(response: Response): Promise<void> {
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  const seen = await allFrames(response)
  const text = seen.flatMap((frame) =>
    frame.event === 'messageUpdate' && frame.data.delta.type === 'text' ? [frame.data.delta.delta] : [],
  )
  expect(text.join('')).toContain('I am a scripted model')
  const [block] = seen.find((frame) => frame.event === 'toolExecutionEnd')?.data.result.content ?? []
  expect(new Date(block.text).getTime()).toBeGreaterThan(0)
  expect(seen.at(-1)).toMatchObject({ event: 'agentEnd', data: { status: 'completed' } })
}

describe('the Worker in wrangler dev without Node compatibility', () => {
  let worker: WranglerDev
  beforeAll(async () => {
    worker = await wranglerDev()
  }, 60_000)
  afterAll(() => worker?.close())

  it('runs the scripted model and identifies it as scripted', async () => {
    expect(await (await fetch(`${worker.url}/about`)).json()).toMatchObject({ isScripted: true })
    await expectScriptedRun(await post(worker.url))
  })

  it('joins clients of three protocols in one run', async () => {
    await expect(meet({ url: worker.url, fetch, sessionId: 'mine' })).resolves.toBeUndefined()
  })

  it('responds to an invalid request with a problem document', async () => {
    const response = await fetch(`${worker.url}/runs`, { method: 'POST', headers: json, body: '{"prompt":""}' })
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'invalidBody' }])
  })
})

describe('a Worker with a model', () => {
  // A real protocol against the fixture server, which says a word and then hangs.
  const base = `/anthropic/hang/${crypto.randomUUID()}`
  let worker: WranglerDev
  beforeAll(async () => {
    worker = await wranglerDev({ MODEL_URL: `${baseUrl()}${base}` }, 'test/adapters/cloudflare/anthropic-worker.ts')
  }, 60_000)
  afterAll(() => worker?.close())

  it('streams during generation and cancels the model call on a disconnect', async () => {
    const client = new AbortController()
    const response = await post(worker.url, {}, client.signal)
    for await (const frame of frames(response)) {
      expect(JSON.stringify(frame)).not.toContain('test-key')
      if (frame.event !== 'messageUpdate') continue
      expect(frame.data.delta.delta).toBe('Hello')
      break
    }
    client.abort()
    expect(await (await fetch(`${baseUrl()}/idle${base}`)).text()).toBe('idle')
  }, 30_000)
})

describe('the same app in Node', () => {
  it('runs the same app unchanged in Node', async () => {
    await using server = await serve((request) => app.fetch(request, noObjects))
    await expectScriptedRun(await post(server.url))
  })

  it('aborts the run of a disconnected client', async () => {
    const base = `/anthropic/hang/${crypto.randomUUID()}`
    await using server = await serve((request) => anthropicWorker.fetch(request, { MODEL_URL: `${baseUrl()}${base}` }))
    const client = new AbortController()
    const response = await post(server.url, {}, client.signal)
    for await (const frame of frames(response)) if (frame.event === 'messageUpdate') break
    client.abort()
    expect(await (await fetch(`${baseUrl()}/idle${base}`)).text()).toBe('idle')
  })
})

describe('access token of the Worker', () => {
  const request = (authorization: string) =>
    new Request('http://worker/runs', { method: 'POST', headers: { ...json, authorization }, body: '{}' })

  it('requires the access token and rejects all requests if none is configured', async () => {
    const key = { ...noObjects, ANTHROPIC_API_KEY: 'test-key' }
    const locked = { ...key, ACCESS_TOKEN: 'let-me-in-please' }
    expect((await app.fetch(request('Bearer let-me-in-please'), key)).status).toBe(401)
    expect((await app.fetch(request('Bearer undefined'), key)).status).toBe(401)
    for (const ACCESS_TOKEN of ['', ' ', 'x', 'undefined']) {
      for (const env of [
        { ...noObjects, ACCESS_TOKEN },
        { ...key, ACCESS_TOKEN },
      ]) {
        expect((await app.fetch(request(`Bearer ${ACCESS_TOKEN}`), env)).status).toBe(401)
      }
    }
    expect((await app.fetch(request('Bearer let-me-out-please'), locked)).status).toBe(401)
    // The right token gets as far as the check of the body.
    expect((await app.fetch(request('Bearer let-me-in-please'), locked)).status).toBe(400)
  })
})
