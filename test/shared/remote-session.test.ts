import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bearer, createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { type ChatAgent, RemoteError, type RemoteSession, remoteSession } from '../../src/client.ts'
import { Agent, type AgentEvent, type AgentMessage, memorySessionStore, textOf } from '../../src/index.ts'
import { allMessages, createStore } from '../../src/store.ts'
import { endpointAgent } from '../../testing/index.ts'

// Without a server in between, so that it runs where none can listen; a host for each case, because workerd ties what it does to one request.
let sessions: ReturnType<typeof memoryLiveSessions>
let app: ReturnType<typeof createAgentApp>
const opened: RemoteSession[] = []

const authorization = 'Bearer long-secret'
const quick = { initialDelayMs: 1, maxDelayMs: 2 }

function open(kind: string, options: Partial<Parameters<typeof remoteSession>[0]> = {}): RemoteSession {
  const sessionId = options.sessionId ?? `${kind}-${crypto.randomUUID()}`
  const session = remoteSession({
    url: 'http://localhost',
    fetch: (request) => app.fetch(request),
    headers: { authorization },
    reconnect: quick,
    ...options,
    sessionId,
  })
  opened.push(session)
  return session
}

async function eventsOf(run: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const all: AgentEvent[] = []
  for await (const event of run) all.push(event)
  return all
}

function textIn(message: AgentMessage): string {
  return message.role === 'extension' ? '' : textOf(message.content)
}

const slowText = Array.from({ length: 150 }, (_, at) => `${at} `).join('')

describe('remoteSession', () => {
  beforeEach(() => {
    sessions = memoryLiveSessions({ store: memorySessionStore(), agent: ({ sessionId }) => endpointAgent(sessionId) })
    app = createAgentApp({ sessions, authorize: bearer('long-secret') })
  })
  afterEach(async () => {
    for (const session of opened.splice(0)) session.close()
    await sessions.close()
  })

  it('runs prompts and keeps the conversation', async () => {
    const session = open('talk')
    const run = session.prompt('First.')
    expect([session.isStreaming, session.currentRun]).toEqual([true, run])
    expect(() => session.prompt('Too soon.')).toThrow('already running')
    const events = await eventsOf(run)
    expect(await run.text()).toBe('one two three four')
    expect([run.id, run.loopId, run.sessionId]).toEqual([events[0]?.runId, events[0]?.loopId, session.sessionId])
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
    expect([session.isStreaming, session.messages.map(({ role }) => role)]).toEqual([false, ['user', 'assistant']])
    const again = open('talk', { sessionId: session.sessionId })
    expect(await again.load()).toEqual(session.messages)
  })

  it('exposes the message while it streams', async () => {
    const run = open('talk').prompt('First.')
    const seen: string[] = []
    for await (const event of run) {
      if (event.type === 'messageUpdate') seen.push(event.messageId)
    }
    expect(JSON.stringify(run.message(seen[0] ?? '')).includes('one two three four')).toBe(true)
  })

  it('regenerates a response and resends edited text', async () => {
    const session = open('talk')
    await session.prompt('First.').result
    const [first] = session.messages
    expect((await session.regenerate().result).status).toBe('completed')
    expect(session.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect((await session.editAndResend(first?.id ?? '', 'Other words.').result).status).toBe('completed')
    expect(session.messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
    expect(await open('talk', { sessionId: session.sessionId }).load()).toEqual(session.messages)
    expect((await session.send('More.').result).status).toBe('completed')
    expect(session.messages).toHaveLength(4)
    expect((await session.regenerate({ messageId: session.messages[1]?.id ?? '' }).result).status).toBe('completed')
    expect(session.messages).toHaveLength(2)
    expect(await session.regenerate({ messageId: 'none' }).result).toMatchObject({ status: 'error', error: { code: 'notFound' } })
    expect(await open('talk', { sessionId: session.sessionId }).load()).toEqual(session.messages)
    expect((await session.compact().result).status).toBe('completed')
  })

  it('settles the receipts of steering and follow-ups from events', async () => {
    const session = open('slow')
    const run = session.prompt('Go.')
    const receipt = session.followUp('And then?')
    expect(receipt.status).toBe('queued')
    const { messages } = await run.result
    expect(await receipt.settled).toBe('delivered')
    expect(messages.map(({ id }) => id)).toContain(receipt.message.id)
    expect(session.steer('Too late.').status).toBe('returned')
    expect(await run.followUp('Too late.').settled).toBe('returned')
  })

  it('loads an earlier loop and continues from it', async () => {
    const session = open('talk')
    const first = await session.prompt('First.').result
    const second = await session.prompt('Second.').result
    const received: AgentEvent[] = []
    session.subscribe((event) => received.push(event))
    expect((await session.load({ loopId: first.loopId })).map(({ id }) => id)).toEqual(first.messages.map(({ id }) => id))
    const other = session.send('Otherwise.')
    const start = (await eventsOf(other))[0]
    expect([start?.type === 'agentStart' && start.parentLoopId, session.messages.map(textIn)]).toEqual([
      first.loopId,
      ['First.', 'one two three four', 'Otherwise.', 'one two three four'],
    ])
    await session.prompt('And on.').result
    expect(session.messages.map(textIn).filter((text) => text !== 'one two three four')).toEqual(['First.', 'Otherwise.', 'And on.'])
    await session.load({ loopId: second.loopId })
    expect((await session.regenerate().result).status).toBe('completed')
    expect(session.messages.map(textIn).filter((text) => text !== 'one two three four')).toEqual(['First.', 'Second.'])
    expect(await open('talk', { sessionId: session.sessionId }).load()).toEqual(session.messages)
    // Nothing of what lies on another branch was taken for news.
    expect(new Set(received.map(({ loopId }) => loopId)).size).toBe(3)
    await expect(session.load({ loopId: 'none' })).rejects.toMatchObject({ name: 'RemoteError', code: 'notFound' })
  })

  it('rejects loading an earlier loop during a run', async () => {
    const session = open('slow')
    const { loopId } = await session.prompt('Go.').result
    const run = session.prompt('Again.')
    for await (const event of run) if (event.type === 'messageUpdate') break
    await expect(session.load({ loopId })).rejects.toMatchObject({ code: 'busy' })
    await expect(open('slow', { sessionId: session.sessionId }).load({ loopId })).rejects.toMatchObject({ code: 'busy' })
    session.abort()
    await run.result
  })

  it('follows another client that returns to an earlier loop', async () => {
    const session = open('talk')
    const { loopId, messages } = await session.prompt('First.').result
    await session.prompt('Second.').result
    let heard = 0
    const ends: (() => void)[] = []
    const ended = () => new Promise<void>((resolve) => ends.push(resolve))
    session.subscribe((event) => {
      if (event.type === 'agentEnd') ends.shift()?.()
      heard += 1
    })
    const other = open('talk', { sessionId: session.sessionId })
    const steps: (() => Promise<unknown>)[] = [
      async () => other.editAndResend((await other.load())[2]?.id ?? '', 'Second, in other words.').result,
      async () => other.regenerate().result,
      async () => other.load({ loopId }).then(() => other.send('Otherwise.').result),
      async () => other.editAndResend(messages[0]?.id ?? '', 'From the beginning.').result,
    ]
    for (const step of steps) {
      const seen = ended()
      await step()
      await seen
      expect(session.messages).toEqual(other.messages)
    }
    expect(heard).toBeGreaterThan(steps.length)
  })

  it('withdraws queued messages, even after reopening the session', async () => {
    const session = open('slow')
    const run = session.prompt('Go.')
    for await (const event of run) if (event.type === 'messageUpdate') break
    const [kept, dropped, other] = [session.followUp('Kept.'), session.steer('Dropped.'), session.followUp('Dropped elsewhere.')]
    expect(session.queued).toEqual([kept, dropped, other])
    dropped.withdraw()
    expect(await dropped.settled).toBe('returned')
    const again = open('slow', { sessionId: session.sessionId })
    await again.load()
    expect(again.queued.map(({ kind, message }) => [kind, message.id])).toEqual(
      [kept, other].map(({ message }) => ['followUp', message.id]),
    )
    again.queued[1]?.withdraw()
    const { messages } = await run.result
    expect(await Promise.all([kept.settled, other.settled])).toEqual(['delivered', 'returned'])
    expect(messages.filter(({ role }) => role === 'user').map(textIn)).toEqual(['Go.', 'Kept.'])
    kept.withdraw()
    expect([kept.status, session.queued]).toEqual(['delivered', []])
  })

  it('aborts a run with abort() and with a signal', async () => {
    const session = open('slow')
    const run = session.prompt('Go.')
    for await (const event of run) if (event.type === 'messageUpdate') break
    session.abort()
    expect((await run.result).status).toBe('aborted')
    const controller = new AbortController()
    const second = session.prompt('Go on.', { signal: controller.signal })
    controller.abort()
    expect((await second.result).status).toBe('aborted')
  })

  it('requests approval for the displayed arguments', async () => {
    const session = open('ask')
    const run = session.prompt('Mail her.')
    for await (const event of run) {
      if (event.type !== 'approvalRequested') continue
      const [request] = session.pendingApprovals()
      expect(request?.toolName).toBe('send_mail')
      expect(() => run.approve({ toolCallId: event.toolCallId, argumentsHash: 'other' })).toThrow('other arguments')
      await expect(session.approve({ toolCallId: event.toolCallId, argumentsHash: 'f'.repeat(64) })).rejects.toThrow(
        'arguments of the pending call differ',
      )
      run.approve(event)
    }
    expect(await run.text()).toBe('Sent.')
    const refused = session.prompt('Again.')
    for await (const event of refused) if (event.type === 'approvalRequested') await session.deny(event, 'No.')
    expect(await refused.text()).toBe('Not sent.')
    await expect(session.deny('none')).rejects.toMatchObject({ name: 'RemoteError', code: 'notFound' })
  })

  it('emits runs of other clients to subscribers', async () => {
    const one = open('talk')
    let isWatching: () => void = () => undefined
    const watching = new Promise<void>((resolve) => {
      isWatching = resolve
    })
    // What was said before is asked for once the feed is open.
    const fetch = (request: Request) => {
      if (request.url.includes('/history')) isWatching()
      return app.fetch(request)
    }
    const other = open('talk', { sessionId: one.sessionId, fetch })
    const heard: AgentEvent[] = []
    const ended = new Promise<void>((resolve) => {
      other.subscribe((event) => {
        heard.push(event)
        if (event.type === 'agentEnd') resolve()
      })
    })
    await watching
    await one.prompt('First.').result
    await ended
    expect(other.messages).toEqual(one.messages)
    expect(heard[0]?.type).toBe('agentStart')
    expect(heard.map(({ seq }) => seq)).toEqual(heard.map((_, at) => at + 1))
  })

  // Over two connections, either answer may come first; the feed tells nothing of what was over before it.
  it.each(['/runs', '/events'])('completes a run that ended before its feed opened, when %s responds first', async (first) => {
    const isDone = { run: false, feed: false }
    const until = async (holds: () => boolean) => {
      while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    const fetch = async (request: Request): Promise<Response> => {
      const isFeed = request.url.endsWith('/events')
      if (isFeed) await until(() => isDone.run)
      const response = await app.fetch(request)
      if (isFeed) isDone.feed = true
      if (!request.url.endsWith('/runs')) return response
      const [copy, rest] = response.body?.tee() ?? []
      const isOver = new Response(copy).text().then(() => {
        isDone.run = true
      })
      if (first === '/events') await isOver.then(() => until(() => isDone.feed))
      return new Response(rest ?? null, response)
    }
    const session = open('talk', { fetch })
    session.subscribe(() => undefined)
    expect(await session.prompt('First.').text()).toBe('one two three four')
    expect(await session.prompt('Second.').text()).toBe('one two three four')
  })

  it("finds a session's active run", async () => {
    const first = open('slow')
    const run = first.prompt('Go.')
    for await (const event of run) if (event.type === 'messageUpdate') break
    const second = open('slow', { sessionId: first.sessionId })
    await second.load()
    expect(await second.currentRun?.text()).toBe(slowText)
    expect(second.messages).toEqual(first.messages)
  })

  it('ends a run rejected by the server with the reason and returns the input', async () => {
    const session = open('slow')
    const run = session.prompt('Go.')
    for await (const event of run) if (event.type === 'messageUpdate') break
    const other = open('slow', { sessionId: session.sessionId })
    const refused = other.prompt('Me too.')
    const events = await eventsOf(refused)
    expect(events.map(({ type }) => type)).toEqual(['agentEnd'])
    const { status, error, returned } = await refused.result
    expect([status, error?.code, returned.length]).toEqual(['error', 'busy', 1])
    session.abort()
    await run.result
    const unknown = await open('talk', { headers: {} }).prompt('Hello?').result
    expect(unknown.error?.code).toBe('unauthorized')
    expect((await open('talk').continueLoop().result).error?.code).toBe('nothingToContinue')
  })

  it('renews its credentials after a 401 and retries', async () => {
    let asked = 0
    const headers = async () => ({ authorization: asked++ === 0 ? 'Bearer expired-secret' : authorization })
    expect(await open('talk', { headers }).prompt('First.').text()).toBe('one two three four')
    expect(asked).toBe(2)
  })

  it('drives a UI store like a local agent', async () => {
    const { model, tools, systemPrompt } = endpointAgent('talk')
    const agents: ChatAgent[] = [open('talk'), new Agent({ model, tools: [...(tools ?? [])], systemPrompt: systemPrompt ?? '' })]
    for (const agent of agents) {
      const store = createStore(agent)
      await agent.prompt('First.').result
      await agent.prompt('Second.').result
      const shown = allMessages(store.getSnapshot()).map(({ role, blocks }) => [role, blocks[0]?.type === 'text' ? blocks[0].text : ''])
      expect(shown).toEqual([
        ['user', 'First.'],
        ['assistant', 'one two three four'],
        ['user', 'Second.'],
        ['assistant', 'one two three four'],
      ])
      store.close()
    }
  })

  it('leaves nothing open after close()', async () => {
    const session = open('slow')
    const run = session.prompt('Go.')
    const reading = eventsOf(run)
    reading.catch(() => undefined)
    for await (const event of run) if (event.type === 'messageUpdate') break
    session.close()
    expect((await run.result).error?.code).toBe('closed')
    expect(RemoteError.isInstance(await reading.catch((error: unknown) => error))).toBe(true)
    expect(() => session.prompt('Again.')).toThrow('closed')
    const other = open('slow', { sessionId: session.sessionId })
    await other.load()
    other.abort()
    await other.currentRun?.result
  })

  it('explains a response that does not come from the agent server', async () => {
    const answers: [answer: () => Response | Promise<Response>, code: string, said: RegExp][] = [
      [
        () => new Response('<html>Sign in</html>', { headers: { 'content-type': 'text/html' } }),
        'unexpectedAnswer',
        /200 with text\/html.*web page/,
      ],
      [() => new Response('Bad gateway', { status: 502 }), 'unexpectedAnswer', /3 attempts.*502.*proxy/],
      [() => new Response('<html>', { status: 404, headers: { 'content-type': 'text/html' } }), 'unexpectedAnswer', /404 .*Check url/],
      [() => Promise.reject(new TypeError('fetch failed')), 'connectionLost', /3 attempts.*fetch failed/],
      [() => new Promise(() => undefined), 'connectionLost', /silent for 20 ms/],
      [
        () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } }),
        'connectionLost',
        /silent for 20 ms/,
      ],
      [() => new Response('data: {"a"\n\n', { headers: { 'content-type': 'text/event-stream' } }), 'unexpectedAnswer', /not JSON/],
    ]
    for (const [answer, code, said] of answers) {
      const session = open('talk', { fetch: answer, reconnect: { ...quick, maxRetries: 2, idleTimeoutMs: 20 } })
      const { status, error, returned } = await session.prompt('Hello?').result
      expect([status, error?.code, returned.length]).toEqual(['error', code, 1])
      expect(error?.message).toMatch(said)
    }
  })

  it('waits for the delay in Retry-After', async () => {
    let isFirst = true
    const waits: unknown[] = []
    const session = open('talk', {
      fetch: (request) => {
        // What a server of ours says whose store does not answer.
        const problem = { status: 503, code: 'storeFailed', detail: 'The database does not answer. Ask again.' }
        const headers = { 'content-type': 'application/problem+json', 'retry-after': '0.02' }
        const busy = Response.json(problem, { status: 503, headers })
        const answer = isFirst ? busy : app.fetch(request)
        isFirst = false
        return answer
      },
      logger: { warn: (_event, { delayMs }) => waits.push(delayMs) },
    })
    expect(await session.prompt('First.').text()).toBe('one two three four')
    expect(waits).toHaveLength(1)
    // And up to a quarter more, so that not all come back at once.
    expect(waits[0]).toBeGreaterThanOrEqual(20)
    expect(waits[0]).toBeLessThanOrEqual(25)
  })

  it('throws for invalid options and prompts', () => {
    expect(() => open('talk', { url: 7 as unknown as string })).toThrow('url')
    expect(() => open('talk').prompt(' ')).toThrow('empty')
    expect(() => open('talk').prompt({ role: 'assistant', content: 'I said so.' })).toThrow('accepts only user messages')
    expect(() => open('talk').prompt({ role: 'user', content: [] })).toThrow('empty')
  })
})
