import { describe, expect, it } from 'vitest'
import { type AgentAppOptions, createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { remoteSession } from '../../../src/client/index.ts'
import { Agent, memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'

const answers = Array.from({ length: 6 }, () => ({ text: 'ok' }))

function served(clientSettings?: AgentAppOptions['clientSettings']) {
  const model = scripted(answers)
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => ({ model }) })
  const more = clientSettings === undefined ? {} : { clientSettings }
  const app = createAgentApp({ authorize: () => true, sessions, agent: () => new Agent({ model }), ...more })
  const post = (path: string, body: object) =>
    app.fetch(
      new Request(`http://test${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    )
  return { model, app, post }
}

describe('settings that a client chooses', () => {
  const settings = { thinking: 'high', temperature: 0.5, toolChoice: { tool: 'add' } } as const
  const allowed = ['thinking', 'temperature', 'toolChoice'] as const
  const said = { thinkingLevel: 'high', temperature: 0.5, toolChoice: { tool: 'add' } }

  it.each([
    ['a run without a session', '/runs', { prompt: 'hi', settings }],
    ['our wire', '/sessions/s1/runs', { prompt: 'hi', settings }],
    ['send', '/sessions/s1/send', { prompt: 'hi', settings }],
    [
      'useChat',
      '/sessions/s1/chat',
      { id: 's1', trigger: 'submit-message', settings, messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'hi' }] }] },
    ],
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
  ])('reach the model over %s', async (_name, path, body) => {
    const { model, post } = served(allowed)
    const response = await post(path, body)
    await response.text()
    expect(response.status, path).toBeLessThan(300)
    for (let waited = 0; model.provider.requests.length === 0 && waited < 50; waited += 1) await Promise.resolve()
    expect(model.provider.requests[0]).toMatchObject(said)
  })

  it.each([
    [undefined, { thinking: 'high' }, 403, /settings\.thinking is not for clients to set.*no settings/],
    [['thinking'] as const, { thinking: 'high', seed: 1 }, 403, /settings\.seed.*lets them set thinking/],
    [['thinking'] as const, { headers: { a: 'b' } }, 403, /settings\.headers/],
    [['thinking'] as const, { body: { model: 'x' } }, 403, /settings\.body/],
    [['thinking'] as const, { thinking: 'extreme' }, 400, /settings\.thinking is "extreme"/],
    [['thinking'] as const, 'high', 400, /settings must be an object/],
  ])('with %j allowed, %j is refused by name', async (clientSettings, settings, status, message) => {
    const { model, post } = served(clientSettings)
    const response = await post('/sessions/s1/runs', { prompt: 'hi', settings })
    expect(response.status).toBe(status)
    expect((await response.json()).detail).toMatch(message)
    expect(model.provider.requests).toEqual([])
  })

  it('what clients may never set cannot be allowed', () => {
    for (const name of ['headers', 'body', 'strict', 'cacheTtl', 'model']) expect(() => served([name as 'seed'])).toThrow(/clientSettings/)
  })

  it('a remote session takes them where an agent does', async () => {
    const { model, app } = served(['thinking', 'seed'])
    const session = await remoteSession({
      url: 'http://test',
      sessionId: 's1',
      fetch: async (request) => app.fetch(request),
    })
    await session.prompt('hi', { thinking: 'max', seed: 3 }).result
    expect(model.provider.requests[0]).toMatchObject({ thinkingLevel: 'max', seed: 3 })
    expect(await session.prompt('hi', { topP: 0.5 }).result).toMatchObject({
      status: 'error',
      error: { message: expect.stringContaining('topP') },
    })
    session.close()
  })
})
