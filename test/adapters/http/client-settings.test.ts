import { describe, expect, it } from 'vitest'
import { type AgentAppOptions, createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { remoteSession } from '../../../src/client.ts'
import { Agent, defineTool, memorySessionStore } from '../../../src/index.ts'
import { type ScriptedModel, scripted } from '../../../src/providers/scripted/index.ts'
import { everySetting } from '../../options/every-setting.ts'

const answers = Array.from({ length: 6 }, () => ({ text: 'ok' }))

const chatOf = (text: string) => ({
  id: 's1',
  trigger: 'submit-message',
  messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text }] }],
})

function posted(path: string, body: object): Request {
  const headers = { 'content-type': 'application/json' }
  return new Request(`http://test${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

function served(clientSettings?: AgentAppOptions['clientSettings']) {
  const model = scripted(answers)
  const tools = [defineTool({ name: 'add', description: 'Adds.', parameters: { type: 'object' }, execute: () => '3' })]
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model, tools }) })
  const more = clientSettings === undefined ? {} : { clientSettings }
  const app = createAgentApp({ authorize: () => true, sessions, agent: () => new Agent({ model, tools }), ...more })
  const post = (path: string, body: object) => app.fetch(posted(path, body))
  return { model, app, post }
}

describe('client settings', () => {
  const settings = { thinking: 'high', temperature: 0.5, toolChoice: { tool: 'add' } } as const
  const allowed = ['thinking', 'temperature', 'toolChoice'] as const
  const said = { thinking: 'high', temperature: 0.5, toolChoice: { tool: 'add' } }

  it.each([
    ['a run without a session', '/runs', { prompt: 'hi', settings }],
    ['the phi protocol', '/sessions/s1/runs', { prompt: 'hi', settings }],
    ['send', '/sessions/s1/send', { prompt: 'hi', settings }],
    ['useChat', '/sessions/s1/chat', { ...chatOf('hi'), settings }],
    [
      'AG-UI',
      '/sessions/s1/agui',
      {
        threadId: 's1',
        runId: 'r1',
        messages: [{ id: 'm1', role: 'user', content: 'hi' }],
        tools: [],
        context: [],
        state: {},
        forwardedProps: { settings },
      },
    ],
  ])('applies settings sent over %s', async (_name, path, body) => {
    const { model, post } = served(allowed)
    const response = await post(path, body)
    await response.text()
    expect(response.status, path).toBeLessThan(300)
    for (let waited = 0; model.provider.requests.length === 0 && waited < 50; waited += 1) await Promise.resolve()
    expect(model.provider.requests[0]).toMatchObject(said)
  })

  it.each([
    [undefined, { thinking: 'high' }, 403, /settings\.thinking cannot be set by clients.*no settings/],
    [['thinking'] as const, { thinking: 'high', seed: 1 }, 403, /settings\.seed.*can set thinking/],
    [['thinking'] as const, { headers: { a: 'b' } }, 403, /settings\.headers/],
    [['thinking'] as const, { body: { model: 'x' } }, 403, /settings\.body/],
    [['thinking'] as const, { thinking: 'extreme' }, 400, /settings\.thinking is "extreme"/],
    [['thinking'] as const, 'high', 400, /settings must be an object/],
    [['toolChoice'] as const, { toolChoice: { tool: 'ad' } }, 403, /toolChoice names "ad".*Did you mean add/],
  ])('accepts only %j and rejects %j by name', async (clientSettings, settings, status, message) => {
    const { model, post } = served(clientSettings)
    const response = await post('/sessions/s1/runs', { prompt: 'hi', settings })
    expect(response.status).toBe(status)
    expect((await response.json()).detail).toMatch(message)
    expect(model.provider.requests).toEqual([])
  })

  const { headers: _headers, body: _body, strict: _strict, cacheTtl: _ttl, ...ofClients } = everySetting
  it.each(Object.entries({ ...ofClients, thinking: 'max' }))('passes %s to the model if allowed', async (name, value) => {
    const { model, post } = served([name as 'seed'])
    await (await post('/sessions/s1/chat', { ...chatOf('hi'), settings: { [name]: value } })).text()
    expect(model.provider.requests[0]).toMatchObject({ [name]: value })
  })

  it('applies client settings after another process takes over the run', async () => {
    const store = memorySessionStore()
    const serverWith = (model: ScriptedModel) => {
      const sessions = memoryLiveSessions({ store, agent: () => ({ model }) })
      const agent = () => new Agent({ model })
      return createAgentApp({ authorize: () => true, sessions, agent, clientSettings: ['seed', 'thinking'] })
    }
    const hung = scripted(() => new Promise<never>(() => undefined))
    await serverWith(hung).fetch(posted('/sessions/s1/runs', { prompt: 'hi', settings: { seed: 3, thinking: 'max' } }))
    await expect.poll(() => hung.provider.requests.length).toBe(1)
    const next = scripted(answers)
    // The first command takes the session over, and what was cut off goes on by itself: that this one is too late says so.
    expect((await serverWith(next).fetch(posted('/sessions/s1/continue', {}))).status).toBe(409)
    await expect.poll(() => next.provider.requests.length).toBe(1)
    expect(next.provider.requests[0]).toMatchObject({ seed: 3, thinking: 'max' })
  })

  it('rejects settings that the server can never allow', () => {
    for (const name of ['headers', 'body', 'strict', 'cacheTtl', 'model']) expect(() => served([name as 'seed'])).toThrow(/clientSettings/)
  })

  it('applies client settings in a remote session as in an agent', async () => {
    const { model, app } = served(['thinking', 'seed'])
    const session = await remoteSession({
      url: 'http://test',
      sessionId: 's1',
      fetch: async (request) => app.fetch(request),
    })
    await session.prompt('hi', { thinking: 'max', seed: 3 }).result
    expect(model.provider.requests[0]).toMatchObject({ thinking: 'max', seed: 3 })
    expect(await session.prompt('hi', { topP: 0.5 }).result).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('topP') },
    })
    session.close()
  })
})
