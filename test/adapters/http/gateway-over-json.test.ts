import { afterAll, describe, expect, it } from 'vitest'
import {
  createAgentApp,
  createOpenAiApp,
  type LiveSessions,
  memoryLiveSessions,
  memorySchedules,
  type SessionGateway,
} from '../../../adapters/http/index.ts'
import { type AgentEvent, memorySessionStore } from '../../../src/index.ts'
import { type AskEndpoint, agentEndpointSuite, endpointAgent } from '../../../testing/index.ts'
import { signed, userOf } from '../../support/endpoint-users.ts'
import { NoticeBoard } from '../../support/notice-board.ts'

/** As it would come from another process. */
function copied<Value>(value: Value): Value {
  return value === undefined ? value : JSON.parse(JSON.stringify(value))
}

/** Not a generator: who leaves does not wait for what comes next. */
function copiedEvents(source: AsyncIterable<AgentEvent>): AsyncIterator<AgentEvent> {
  const events = source[Symbol.asyncIterator]()
  return {
    next: async () => copied(await events.next()),
    return: async () => (await events.return?.()) ?? { done: true, value: undefined },
  }
}

/** Of a source that is elsewhere, only what is plain data. */
function eventsOverJson<Source extends Awaited<ReturnType<SessionGateway['follow']>>>(source: Source): Source {
  return new Proxy(source, {
    get: (_, name) => {
      const value: unknown = Reflect.get(source, name, source)
      if (name === Symbol.asyncIterator) return () => copiedEvents(source)
      if (name === 'historyBefore' && typeof value === 'function') return async () => copied(await value.call(source))
      return typeof value === 'function' ? value.bind(source) : value
    },
  })
}

/** A gateway with a wire in between: all that goes over it, either way, is JSON, but for the bytes of media. */
function overJson(gateway: SessionGateway): SessionGateway {
  return {
    sessionId: gateway.sessionId,
    caller: gateway.caller,
    command: async (command) => copied(await gateway.command(copied(command))),
    events: async (place, media) => eventsOverJson(await gateway.events(copied(place), copied(media))),
    follow: async (place, media) => eventsOverJson(await gateway.follow(copied(place), copied(media))),
    read: new Proxy(gateway.read, {
      get: (read, name) => {
        const ask: unknown = Reflect.get(read, name, read)
        if (typeof ask !== 'function') return ask
        const isBytes = name === 'media'
        return async (...query: unknown[]) => {
          const answer: unknown = await ask.apply(read, copied(query))
          return isBytes ? answer : copied(answer)
        }
      },
    }),
  }
}

const board = new NoticeBoard()
const here = memoryLiveSessions({
  store: memorySessionStore(),
  agent: ({ sessionId }) => endpointAgent(sessionId),
  onWaiting: board.tell,
  onEnd: board.tell,
  schedules: memorySchedules(),
})
afterAll(() => here.close())

const sessions: LiveSessions = {
  fetch: (address, request, routes) => here.fetch(address, request, (asked, gateway) => routes(asked, overJson(gateway))),
  list: (caller, page) => here.list(caller, page),
}
const app = createAgentApp({ sessions, imports: true, authorize: userOf })
const models = createOpenAiApp({ agents: { helper: { sessions } }, authorize: userOf })

const ask: AskEndpoint = async (path, init = {}, user = 'ada') =>
  app.fetch(new Request(new URL(path, 'http://localhost'), signed(init, user)))

agentEndpointSuite(
  { describe, it, expect },
  { schedules: true, name: 'a gateway over JSON', ask, notices: (sessionId, type) => board.told(sessionId, type) },
)

describe('OpenAI endpoint behind a JSON gateway', () => {
  const say = async (path: string, body: object, more: Record<string, string> = {}) => {
    const headers = { authorization: 'Bearer ada-secret', 'content-type': 'application/json', ...more }
    const sent = JSON.stringify({ model: 'helper', ...body })
    return models.fetch(new Request(`http://localhost${path}`, { method: 'POST', headers, body: sent }))
  }

  it('returns the same response for the same idempotency key', async () => {
    const key = { 'idempotency-key': 'once-and-no-more' }
    const first = await (await say('/v1/responses', { input: 'Go.', conversation: 'talk-openai' }, key)).json()
    const second = await (await say('/v1/responses', { input: 'Go.', conversation: 'talk-openai' }, key)).json()
    expect([second.id, second.output]).toEqual([first.id, first.output])
    expect(first.output[0].content[0].text).toBe('one two three four')
  })

  it('streams a response through the gateway', async () => {
    const headers = { 'x-session-id': 'talk-streamed' }
    const streamed = await say('/v1/chat/completions', { messages: [{ role: 'user', content: 'Go.' }], stream: true }, headers)
    expect(await streamed.text()).toMatch(/one .*data: \[DONE\]\n\n$/s)
  })
})
