import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectMcpOver, type McpConnectOptions, mcpTools } from '../../../adapters/mcp/index.ts'
import { Agent, type AgentEvent, type InputAnswer } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { type Answering, offering, type PlainServer, serve } from '../../mcp/in-memory.ts'
import { gate, ofType, seen } from '../../support/play.ts'

const form = {
  type: 'object',
  properties: { name: { type: 'string', default: 'Ada' }, age: { type: 'integer', minimum: 0 } },
  required: ['age'],
}
const call = { toolCalls: [{ name: 'act', arguments: {} }] }

/** What the client answered the server's question `q`. */
const answerOf = (server: PlainServer, id = 'q') => server.asked.find((message) => message.id === id && message.method === undefined)

/** A server that asks `params` in the middle of a call, and ends the call with what it was answered. */
function asking(params: object): Answering {
  return offering(
    () => [{ name: 'act', inputSchema: { type: 'object' } }],
    async (_asked, server) => {
      const isAnswered = server.got(undefined)
      server.send({ id: 'q', method: 'elicitation/create', params })
      await isAnswered
      return { result: { content: [{ type: 'text', text: JSON.stringify(answerOf(server)) }] } }
    },
  )
}

async function connected(answering: Answering, options: McpConnectOptions = { onElicit: 'event' }) {
  const [near, far] = InMemoryTransport.createLinkedPair()
  const server = serve(far, answering)
  const client = await connectMcpOver({ open: () => near }, options)
  onTestFinished(() => client.close())
  const tools = await mcpTools(client)
  return { client, server, tools }
}

async function asked(params: object, answers: InputAnswer[], options?: McpConnectOptions) {
  const { tools, server } = await connected(asking(params), options)
  const agent = new Agent({ model: scripted([call, { text: 'done' }]), tools })
  const events: AgentEvent[] = []
  agent.subscribe((event) => {
    events.push(event)
    if (event.type === 'inputRequested') agent.currentRun?.answer(event, answers.shift() ?? { action: 'cancel' })
  })
  expect((await agent.prompt('go').result).status).toBe('completed')
  return { events, server, requests: ofType(events, 'inputRequested'), answer: answerOf(server) }
}

const question = (requestedSchema: unknown) => ({ message: 'Who?', requestedSchema })

/** A server with two calls, which end as `ends` open; it asks during the second. */
function askingInSecond(ends: readonly Pick<ReturnType<typeof gate>, 'opened'>[]) {
  let calls = 0
  return offering(
    () => [{ name: 'act', inputSchema: { type: 'object' } }],
    async (_asked, far) => {
      const end = ends[calls++]
      if (calls === 2) far.send({ id: 'q', method: 'elicitation/create', params: question(form) })
      await end?.opened
      return { result: { content: [{ type: 'text', text: 'ok' }] } }
    },
  )
}

describe('MCP elicitation', () => {
  it('declares no elicitation capability without a handler', async () => {
    const capabilities = async (options: McpConnectOptions) =>
      (await connected(asking({}), options)).server.asked.find(({ method }) => method === 'initialize')?.params
    expect(await capabilities({})).toMatchObject({ capabilities: {} })
    expect(JSON.stringify(await capabilities({}))).not.toMatch(/elicitation|sampling/)
    expect(await capabilities({ onElicit: 'event' })).toMatchObject({ capabilities: { elicitation: { form: {}, url: {} } } })
    expect(await capabilities({ onSample: () => ({ model: 'm', role: 'assistant', content: { type: 'text', text: '' } }) })).toMatchObject({
      capabilities: { sampling: {} },
    })
    const { events, answer } = await asked(question(form), [], {})
    expect(ofType(events, 'inputRequested')).toEqual([])
    expect(answer).toMatchObject({ error: { code: expect.any(Number) } })
  })

  it("returns the user response with the form's defaults", async () => {
    const { requests, answer } = await asked(question(form), [{ action: 'accept', content: { age: 36 } }])
    expect(requests).toMatchObject([{ message: 'Who?', schema: form, toolName: 'act' }])
    expect(answer).toMatchObject({ result: { action: 'accept', content: { name: 'Ada', age: 36 } } })
  })

  it('returns only valid form data and shows the error on a retry', async () => {
    const { requests, answer } = await asked(question(form), [
      { action: 'accept', content: { age: 'old' } },
      { action: 'accept', content: { age: 1, secret: 'x' } },
      { action: 'decline' },
    ])
    expect(requests.map(({ problem }) => problem)).toEqual([undefined, expect.stringContaining('age'), expect.stringContaining('secret')])
    expect(answer).toMatchObject({ result: { action: 'decline' } })
  })

  it('shows https URLs to the user without opening them and rejects others', async () => {
    const page = (url: string) => ({ mode: 'url', message: 'Log in.', url, elicitationId: 'e' })
    const { requests, answer } = await asked(page('https://a.example/login'), [{ action: 'accept' }])
    expect(requests).toMatchObject([{ message: 'Log in.', url: 'https://a.example/login' }])
    expect(answer).toMatchObject({ result: { action: 'accept' } })
    for (const url of ['javascript:alert(1)', 'http://a.example/', 'file:///etc/passwd', 'https://me:pw@a.example/']) {
      expect((await asked(page(url), [{ action: 'accept' }])).requests).toEqual([])
    }
  })

  it.each([
    ['an invalid schema', { message: 'x', requestedSchema: 'none' }],
    ['nested objects', question({ type: 'object', properties: { a: { type: 'object', properties: {} } } })],
    [
      'a prototype key',
      JSON.parse('{"message":"x","requestedSchema":{"type":"object","properties":{"__proto__":{"type":"string","default":"p"}}}}'),
    ],
    [
      'too many fields',
      question({ type: 'object', properties: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`f${at}`, { type: 'string' }])) }),
    ],
    ['an unknown mode', { ...question(form), mode: 'hologram' }],
  ])('rejects the request without asking the user: %s', async (_name, params) => {
    const { requests } = await asked(params, [{ action: 'accept' }])
    expect(
      requests.filter(({ schema }) => JSON.stringify(schema).includes('"object"') && Object.keys(Object(schema?.properties)).length > 0),
    ).toEqual([])
    expect(Object.prototype).not.toHaveProperty('p')
  })

  it('omits patterns and references from a form and truncates long texts', async () => {
    const hostile = { type: 'string', pattern: '^(a+)+$', $ref: '#', title: 't'.repeat(10_000) }
    const { requests } = await asked({ ...question({ type: 'object', properties: { a: hostile } }), message: 'm'.repeat(1e6) }, [
      { action: 'accept', content: { a: `${'a'.repeat(100)}!` } },
    ])
    const shown = JSON.stringify(requests)
    expect(shown.length).toBeLessThan(6000)
    expect(shown).not.toMatch(/pattern|\$ref/)
  })

  it('strips control characters from message, titles and descriptions', async () => {
    const bad = 'a\u001b[2Jb'
    const field = { type: 'string', title: bad, description: bad, oneOf: [{ const: bad, title: bad }] }
    const { requests } = await asked({ ...question({ type: 'object', properties: { a: field } }), message: bad }, [{ action: 'decline' }])
    const seen = 'a\\u{1b}[2Jb'
    expect(requests).toMatchObject([
      { message: seen, schema: { properties: { a: { title: seen, description: seen, oneOf: [{ const: bad, title: seen }] } } } },
    ])
  })

  it('returns a cancel if the run is aborted and no later response', async () => {
    const { tools, server } = await connected(asking(question(form)))
    const run = new Agent({ model: scripted([call]), tools }).prompt('go')
    await seen(run, 'inputRequested')
    const [pending] = run.pendingInputs()
    run.abort()
    expect((await run.result).status).toBe('aborted')
    await server.got(undefined)
    expect(answerOf(server)).toMatchObject({ result: { action: 'cancel' } })
    expect(() => run.answer(pending ?? '', { action: 'accept' })).toThrow('No input request')
  })

  it('pauses the call timeout while the user responds', async () => {
    const { client } = await connected(asking(question(form)))
    const tools = await mcpTools(client, { timeoutMs: 20 })
    const agent = new Agent({ model: scripted([call, { text: 'done' }]), tools, approvalTimeoutMs: 60 })
    const { messages } = await agent.prompt('go').result
    expect(JSON.stringify(messages)).toContain('cancel')
    expect(messages.some((message) => message.role === 'toolResult' && message.isError)).toBe(false)
  })

  it('pauses the timeouts of all calls that may have sent the request', async () => {
    const both = gate()
    const { client, server } = await connected(askingInSecond([both, both]))
    const tools = await mcpTools(client, { timeoutMs: 40 })
    const model = scripted([{ toolCalls: [...call.toolCalls, ...call.toolCalls] }, { text: 'done' }])
    const ran = new Agent({ model, tools, approvalTimeoutMs: 120 }).prompt('go').result
    await server.got(undefined)
    both.open()
    const results = (await ran).messages.filter(({ role }) => role === 'toolResult')
    expect(results).toMatchObject([{ isError: false }, { isError: false }])
  })

  it('pauses the call timeout while a handler function responds', async () => {
    const onElicit = () => new Promise<{ action: 'decline' }>((resolve) => setTimeout(resolve, 120, { action: 'decline' }))
    const { client, server } = await connected(asking(question(form)), { onElicit })
    const tools = await mcpTools(client, { timeoutMs: 40 })
    const { messages } = await new Agent({ model: scripted([call, { text: 'done' }]), tools }).prompt('go').result
    expect(messages.filter(({ role }) => role === 'toolResult')).toMatchObject([{ isError: false }])
    expect(answerOf(server)).toMatchObject({ result: { action: 'decline' } })
  })

  it('reassigns the request to the other call when the first call ends', async () => {
    const ends = [gate(), gate()]
    const { tools, server } = await connected(askingInSecond(ends))
    const model = scripted([{ toolCalls: [...call.toolCalls, ...call.toolCalls] }, { text: 'done' }])
    const agent = new Agent({ model, tools })
    const asked: string[] = []
    agent.subscribe((event) => {
      if (event.type !== 'inputRequested') return
      asked.push(event.toolCallId)
      if (asked.length === 1) ends[1]?.open()
      else agent.currentRun?.answer(event, { action: 'accept', content: { age: 36 } })
    })
    const ran = agent.prompt('go').result
    await server.got(undefined)
    ends[0]?.open()
    await ran
    expect(new Set(asked).size).toBe(2)
    expect(answerOf(server)).toMatchObject({ result: { action: 'accept', content: { age: 36 } } })
  })

  it('asks neither of two agents if both have active calls', async () => {
    const both = gate()
    const lines: string[] = []
    const { tools, server } = await connected(askingInSecond([both, both]), {
      onElicit: 'event',
      logger: { warn: (event) => lines.push(event) },
    })
    const events: AgentEvent[] = []
    const runs = [1, 2].map(() => {
      const agent = new Agent({ model: scripted([call, { text: 'done' }]), tools })
      agent.subscribe((event) => events.push(event))
      return agent.prompt('go').result
    })
    await server.got(undefined)
    both.open()
    await Promise.all(runs)
    expect(answerOf(server)).toMatchObject({ result: { action: 'cancel' } })
    expect(ofType(events, 'inputRequested')).toEqual([])
    expect(lines).toContain('mcpQuestionNotAsked')
  })

  it('stops endless requests at a limit', async () => {
    const { tools, server } = await connected(
      offering(
        () => [{ name: 'act', inputSchema: { type: 'object' } }],
        async (_asked, far) => {
          for (let at = 0; at < 100; at++) far.send({ id: `q${at}`, method: 'elicitation/create', params: question(form) })
          return undefined
        },
      ),
    )
    const agent = new Agent({ model: scripted([call, { text: 'done' }]), tools, approvalTimeoutMs: 30 })
    const run = agent.prompt('go')
    await seen(run, 'inputRequested')
    await server.got(undefined)
    run.abort()
    await run.result
    const events: AgentEvent[] = []
    for await (const event of run) events.push(event)
    expect(ofType(events, 'inputRequested').length).toBeLessThanOrEqual(20)
    expect(ofType(events, 'inputResolved').length).toBe(ofType(events, 'inputRequested').length)
  })
})
