import { describe, expect, it } from 'vitest'
import { type AgentAppOptions, createAgentApp } from '../../../adapters/http/index.ts'
import { Agent, type AgentRun, defineTool } from '../../../src/index.ts'
import { type Script, scripted } from '../../../src/providers/scripted/index.ts'
import { allFrames, frames } from './read-sse.ts'

const add = defineTool({
  name: 'add',
  label: 'Add',
  description: 'Adds two numbers.',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  execute: (args) => String(Number(args.a) + Number(args.b)),
})

const anyone = () => true

const hello: Script = [{ text: ['Hel', 'lo'] }]

function appOf(script: Script, options: Partial<AgentAppOptions> = {}) {
  return createAgentApp({ authorize: anyone, agent: () => new Agent({ model: scripted(script), tools: [add] }), ...options })
}

function post(body: unknown, init: RequestInit = {}): Request {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return new Request('http://test/runs', { method: 'POST', headers: { 'content-type': 'application/json' }, body: text, ...init })
}

describe('POST /runs', () => {
  it('streams the events of a run, including tool calls', async () => {
    const script: Script = [{ toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: 'It is 3.' }]
    const response = await appOf(script).fetch(post({ prompt: 'What is 1 + 2?', metadata: { user: 7 } }))
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    const seen = await allFrames(response)
    expect(seen[0]).toMatchObject({ id: 1, event: 'agentStart', data: { metadata: { user: 7 } } })
    expect(seen.find((frame) => frame.event === 'toolExecutionEnd')?.data.result.content).toEqual([{ type: 'text', text: '3' }])
    expect(seen.at(-1)).toMatchObject({ event: 'agentEnd', data: { status: 'completed' } })
    const ids = seen.map((frame) => frame.id ?? 0)
    expect(ids).toEqual([...ids].sort((a, b) => a - b))
  })

  it('streams a delta before the model has finished', async () => {
    let open = (): void => undefined
    const opened = new Promise<void>((resolve) => {
      open = resolve
    })
    let pieces = 0
    const model = scripted(hello, { gate: () => (pieces++ === 0 ? Promise.resolve() : opened) })
    const app = createAgentApp({ authorize: anyone, agent: () => new Agent({ model }) })
    const texts: string[] = []
    for await (const { event, data } of frames(await app.fetch(post({ prompt: 'hi' })))) {
      if (event !== 'messageUpdate') continue
      texts.push(data.delta.delta)
      open()
    }
    expect(texts).toEqual(['Hel', 'lo'])
  })

  it('accepts messages with images but rejects forged roles and provider state', async () => {
    const app = appOf(hello)
    const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
    const good = { prompt: [{ role: 'user', content: [{ type: 'text', text: 'see', providerState: { api: 'x' } }, image] }] }
    const seen = await allFrames(await app.fetch(post(good)))
    const said = seen.find((frame) => frame.event === 'messageStart')?.data.message
    expect(said.content).toEqual([{ type: 'text', text: 'see' }, image])
    for (const role of ['assistant', 'toolResult', 'system']) {
      const response = await app.fetch(post({ prompt: [{ role, content: [{ type: 'text', text: 'x' }] }] }))
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ code: 'invalidBody', detail: expect.stringContaining('prompt[0]') })
    }
  })

  it('accepts files and reports a rejected part', async () => {
    const ask = (...content: object[]) => appOf(hello).fetch(post({ prompt: [{ role: 'user', content }] }))
    const report = { type: 'file', mimeType: 'application/pdf', data: btoa('%PDF-1.7'), name: 'report.pdf', citations: true }
    const remote = { type: 'file', mimeType: 'application/pdf', url: 'https://example.com/a.pdf' }
    const seen = await allFrames(await ask({ ...report, providerState: { api: 'x' } }, remote))
    expect(seen.find((frame) => frame.event === 'messageStart')?.data.message.content).toEqual([report, remote])
    const fileId = { type: 'file', mimeType: 'application/pdf', fileId: 'file_of_somebody', api: 'anthropicMessages' }
    const refused = [{ ...report, data: '%%%' }, { ...report, data: btoa('GIF89a') }, { ...remote, url: 'http://10.0.0.1/' }, fileId]
    for (const block of [...refused, { type: 'thinking', thinking: 'x' }]) {
      const response = await ask({ type: 'text', text: 'see' }, block)
      expect(await response.json()).toMatchObject({ status: 400, detail: expect.stringContaining('prompt[0].content[1]') })
    }
  })

  it('rejects invalid input with a status code and a problem document', async () => {
    const app = appOf(hello, { maxBodyBytes: 100 })
    const cases: [Request, number, string][] = [
      [post('{'), 400, 'invalidBody'],
      [post('[]'), 400, 'invalidBody'],
      [post({}), 400, 'invalidBody'],
      [post({ prompt: '  ' }), 400, 'invalidBody'],
      [post({ prompt: [] }), 400, 'invalidBody'],
      [post({ prompt: 'x'.repeat(200) }), 413, 'bodyTooLarge'],
      [post({ prompt: 'hi' }, { headers: { 'content-type': 'text/plain' } }), 415, 'unsupportedMediaType'],
    ]
    for (const [request, status, code] of cases) {
      const response = await app.fetch(request)
      expect([response.status, response.headers.get('content-type')]).toEqual([status, 'application/problem+json'])
      expect(await response.json()).toMatchObject({ status, code })
    }
  })

  it('enforces maxBodyBytes despite a wrong content length', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '5' }
    const response = await appOf(hello, { maxBodyBytes: 100 }).fetch(post({ prompt: 'x'.repeat(200) }, { headers }))
    expect(response.status).toBe(413)
  })

  it('lets authorize and agent read the body', async () => {
    const seen: unknown[] = []
    const agent: AgentAppOptions['agent'] = async (c) => {
      seen.push(await c.req.json())
      return new Agent({ model: scripted(hello) })
    }
    const authorize: AgentAppOptions['authorize'] = async (c) => (await c.req.text()) !== ''
    for (const options of [{ agent }, { agent, authorize }]) {
      const response = await appOf(hello, options).fetch(post({ prompt: 'hi', model: 'small' }))
      expect((await allFrames(response)).at(-1)).toMatchObject({ event: 'agentEnd', data: { status: 'completed' } })
    }
    expect(seen).toEqual([
      { prompt: 'hi', model: 'small' },
      { prompt: 'hi', model: 'small' },
    ])
  })

  it('enforces maxBodyBytes without a content length', async () => {
    const chunks = new ReadableStream({
      pull: (controller) => controller.enqueue(new TextEncoder().encode(' '.repeat(10))),
    })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: chunks, duplex: 'half' }
    const response = await appOf(hello, { maxBodyBytes: 100 }).fetch(new Request('http://test/runs', init as RequestInit))
    expect(response.status).toBe(413)
  })

  it('authorizes before it creates an agent or reads the body', async () => {
    let made = 0
    const app = createAgentApp({
      agent: () => {
        made++
        return new Agent({ model: scripted(hello) })
      },
      authorize: (c) => c.req.header('authorization') === 'Bearer good',
    })
    const denied = await app.fetch(post({ prompt: 'hi' }))
    expect([denied.status, made]).toEqual([401, 0])
    const headers = { 'content-type': 'application/json', authorization: 'Bearer good' }
    await allFrames(await app.fetch(post({ prompt: 'hi' }, { headers })))
    expect(made).toBe(1)
  })

  it('responds with 409 while a shared agent is busy', async () => {
    const agent = new Agent({ model: scripted(hello, { gate: () => new Promise(() => undefined) }) })
    const app = createAgentApp({ authorize: anyone, agent: () => agent })
    const first = await app.fetch(post({ prompt: 'hi' }))
    const second = await app.fetch(post({ prompt: 'me too' }))
    expect([second.status, await second.json()]).toMatchObject([409, { code: 'busy' }])
    await first.body?.cancel()
  })

  it('explains its own errors but hides errors of application code', async () => {
    const logged: unknown[] = []
    const throwing = (agent: () => Agent) =>
      createAgentApp({ authorize: anyone, agent, logger: { warn: (event, fields) => logged.push([event, fields]) } })
    const foreign = await throwing(() => {
      throw new Error('password hunter2')
    }).fetch(post({ prompt: 'hi' }))
    expect(foreign.status).toBe(500)
    expect(JSON.stringify(await foreign.json())).not.toContain('hunter2')
    expect(logged).toEqual([['agentFailed', { message: 'password hunter2' }]])
    const ours = await throwing(() => new Agent({ model: scripted(hello, { chunkSize: 0 }) })).fetch(post({ prompt: 'hi' }))
    expect(await ours.json()).toMatchObject({ code: 'agentFailed', detail: expect.stringContaining('chunkSize') })
  })

  it('omits model requests from the stream unless turnRequests is set', async () => {
    const agent = () => new Agent({ model: scripted(hello), systemPrompt: 'the secret recipe', captureTurnRequests: true })
    const quiet = await allFrames(await createAgentApp({ authorize: anyone, agent }).fetch(post({ prompt: 'hi' })))
    expect(JSON.stringify(quiet)).not.toContain('the secret recipe')
    expect(quiet.at(-1)).toMatchObject({ event: 'agentEnd', data: { status: 'completed' } })
    const open = await allFrames(await createAgentApp({ authorize: anyone, agent, turnRequests: true }).fetch(post({ prompt: 'hi' })))
    const sent = open.find((frame) => frame.event === 'turnRequest')
    expect(sent?.data.request.systemPrompt).toBe('the secret recipe')
    const missing = open.filter((frame) => !quiet.some((other) => other.id === frame.id))
    expect(missing.map((frame) => frame.event)).toEqual(['turnRequest'])
  })

  it('reports a model failure as a run event', async () => {
    const seen = await allFrames(await appOf([{ fail: { code: 'auth', message: 'bad key' } }]).fetch(post({ prompt: 'hi' })))
    expect(seen.at(-1)).toMatchObject({
      event: 'agentEnd',
      data: { status: 'error', error: { message: expect.stringContaining('bad key') } },
    })
  })
})

describe('POST /runs after a client disconnect', () => {
  /** A run that waits for ever after its first words. */
  function waiting(): { fetch: (init?: RequestInit) => Promise<Response>; run: () => AgentRun } {
    let run: AgentRun | undefined
    const agent = new Agent({ model: scripted(hello, { gate: () => new Promise(() => undefined) }) })
    const app = createAgentApp({ authorize: anyone, agent: () => agent })
    return {
      async fetch(init) {
        const response = await app.fetch(post({ prompt: 'hi' }, init))
        run = agent.currentRun
        return response
      },
      run() {
        if (run === undefined) throw new Error('no run')
        return run
      },
    }
  }

  it('aborts the run when the response is canceled', async () => {
    const { fetch, run } = waiting()
    const response = await fetch()
    await response.body?.cancel()
    expect((await run().result).status).toBe('aborted')
  })

  it('aborts the run when the request is aborted and ends the stream with agentEnd', async () => {
    const { fetch, run } = waiting()
    const client = new AbortController()
    const response = await fetch({ signal: client.signal })
    client.abort()
    expect((await allFrames(response)).at(-1)).toMatchObject({ event: 'agentEnd', data: { status: 'aborted' } })
    expect((await run().result).status).toBe('aborted')
  })

  it('keeps an idle stream open with comments', async () => {
    const agent = new Agent({ model: scripted(hello, { gate: () => new Promise(() => undefined) }) })
    const app = createAgentApp({ authorize: anyone, agent: () => agent, pingMs: 5 })
    const response = await app.fetch(post({ prompt: 'hi' }))
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    for (let seen = ''; !seen.endsWith('\n\n:\n\n'); ) seen += (await reader?.read())?.value ?? ''
    await reader?.cancel()
  })

  it('merges deltas while the client does not read', async () => {
    const pieces = Array.from({ length: 5000 }, () => 'word ')
    const agent = new Agent({ model: scripted([{ text: pieces }]), replayBytes: 4096 })
    const app = createAgentApp({ authorize: anyone, agent: () => agent })
    const response = await app.fetch(post({ prompt: 'hi' }))
    await agent.currentRun?.result
    const deltas = (await allFrames(response)).filter((frame) => frame.event === 'messageUpdate')
    expect(deltas.length).toBeLessThan(100)
    expect(deltas.map((frame) => frame.data.delta.delta).join('')).toBe(pieces.join(''))
  })
})
