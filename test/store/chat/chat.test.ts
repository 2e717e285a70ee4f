import { expect, it, vi } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { remoteSession } from '../../../src/client.ts'
import { Agent, type AgentOptions, defineTool, memorySessionStore, resumeAgent } from '../../../src/index.ts'
import { type ScriptedStep, scripted } from '../../../src/providers/scripted/index.ts'
import { type Chat, createChat, messageOf } from '../../../src/store.ts'
import { patient } from '../../support/patience.ts'

const add = defineTool({
  name: 'add',
  description: 'Adds.',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  needsApproval: true,
  execute: ({ a, b }) => ({ sum: Number(a) + Number(b) }),
})

const call = { toolCalls: [{ id: 'c1', name: 'add', arguments: { a: 1, b: 2 } }] }

/** A chat with an agent in this process, or behind an endpoint, that says `steps`. */
type Open = (steps: readonly ScriptedStep[]) => { chat: Chat; close(): Promise<void> }

const places: [string, Open][] = [
  [
    'an agent',
    (steps) => {
      const chat = createChat(new Agent(said(steps)))
      const stop = chat.subscribe(() => undefined)
      return { chat, close: async () => stop() }
    },
  ],
  [
    'a session on a server',
    (steps) => {
      const options = said(steps)
      const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => options })
      const app = createAgentApp({ sessions, authorize: 'loopbackOnly' })
      const session = remoteSession({ url: 'http://localhost', sessionId: 's', fetch: (request) => app.fetch(request), logger: false })
      const chat = createChat(session)
      const stop = chat.subscribe(() => undefined)
      return {
        chat,
        close: async () => {
          stop()
          session.close()
          await sessions.close()
        },
      }
    },
  ],
]

function said(steps: readonly ScriptedStep[]): AgentOptions {
  return { model: scripted(steps), tools: [add] }
}

function shown(chat: Chat): string[] {
  return chat.getSnapshot().messages.map(({ role, parts }) => {
    const words = parts.map((part) =>
      part.type === 'text' ? part.text : part.type === 'tool' ? `[${part.toolName} ${part.status}]` : part.type,
    )
    return `${role}: ${words.join('')}`
  })
}

const soon = (check: () => void) => vi.waitFor(check, patient)
const until = (chat: Chat, status: string) => soon(() => expect(chat.getSnapshot().status).toBe(status))

it.each(places)('requests approval, and shows input and output of a call: %s', async (_, open) => {
  const { chat, close } = open([call, { text: 'Three.' }])
  expect(await chat.getSnapshot().send('1 + 2?')).toBe(true)
  await soon(() => expect(chat.getSnapshot().approvals).toHaveLength(1))
  const { approvals, approve } = chat.getSnapshot()
  expect(shown(chat)).toEqual(['user: 1 + 2?', 'assistant: [add pendingApproval]'])
  expect(chat.getSnapshot().messages[1]?.parts[0]).toMatchObject({ input: { a: 1, b: 2 }, approval: { toolCallId: 'c1' } })
  if (approvals[0] !== undefined) await approve(approvals[0])
  await until(chat, 'completed')
  expect(shown(chat)).toEqual(['user: 1 + 2?', 'assistant: [add done]', 'assistant: Three.'])
  expect(chat.getSnapshot().messages[1]?.parts[0]).toMatchObject({ output: { sum: 3 } })
  await close()
})

it.each(places)('branches on edit and regenerate, and switches between branches: %s', async (_, open) => {
  const { chat, close } = open([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }, { text: 'Four.' }])
  await chat.getSnapshot().send('Count.')
  await until(chat, 'completed')
  expect(await chat.getSnapshot().regenerate()).toBe(true)
  await until(chat, 'completed')
  expect(shown(chat)).toEqual(['user: Count.', 'assistant: Two.'])
  const asked = chat.getSnapshot().messageIds[0] ?? ''
  await chat.getSnapshot().edit(asked, 'Count on.')
  await until(chat, 'completed')
  expect(shown(chat)).toEqual(['user: Count on.', 'assistant: Three.'])
  const { branches, goTo } = chat.getSnapshot()
  expect(branches.map(({ messages }) => messages.length)).toEqual([2, 2])
  await goTo(branches[0]?.id ?? '')
  expect(shown(chat)).toEqual(['user: Count.', 'assistant: One.'])
  expect(chat.getSnapshot().branches).toHaveLength(2)
  await chat.getSnapshot().send('And?')
  await until(chat, 'completed')
  expect(shown(chat)).toEqual(['user: Count.', 'assistant: One.', 'user: And?', 'assistant: Four.'])
  await close()
})

it.each(places)('queues, withdraws and delivers messages during a run: %s', async (_, open) => {
  const { chat, close } = open([call, { text: 'Three.' }, { text: 'Bye.' }])
  await chat.getSnapshot().send('1 + 2?')
  await soon(() => expect(chat.getSnapshot().approvals).toHaveLength(1))
  const [waits, back] = [chat.getSnapshot().send('Then go.'), chat.getSnapshot().send('No.')]
  await soon(() => expect(chat.getSnapshot().queue).toHaveLength(2))
  chat.getSnapshot().withdraw(chat.getSnapshot().queue[1]?.id ?? '')
  expect(await back).toBe(false)
  const { approvals, approve } = chat.getSnapshot()
  if (approvals[0] !== undefined) await approve(approvals[0])
  expect(await waits).toBe(true)
  await until(chat, 'completed')
  expect(shown(chat).slice(2)).toEqual(['assistant: Three.', 'user: Then go.', 'assistant: Bye.'])
  expect(chat.getSnapshot().queue).toEqual([])
  await close()
})

it.each(places)('stops a run and continues with proceed(): %s', async (_, open) => {
  const { chat, close } = open([call, { text: 'Well.' }])
  await chat.getSnapshot().send('1 + 2?')
  await soon(() => expect(chat.getSnapshot().approvals).toHaveLength(1))
  chat.getSnapshot().stop()
  await until(chat, 'aborted')
  expect(await chat.getSnapshot().proceed()).toBe(true)
  await until(chat, 'completed')
  expect(shown(chat).at(-1)).toBe('assistant: Well.')
  await close()
})

it.each(places)('reports an error until the next action: %s', async (_, open) => {
  const { chat, close } = open([{ text: 'Hello.' }])
  expect(await chat.getSnapshot().send('')).toBe(false)
  expect(chat.getSnapshot().error?.code).toBe('emptyPrompt')
  await chat.getSnapshot().approve({ toolCallId: 'none', argumentsHash: 'none' })
  expect(chat.getSnapshot().error).toBeDefined()
  await chat.getSnapshot().send('Hi.')
  await until(chat, 'completed')
  expect(chat.getSnapshot().error).toBeUndefined()
  await close()
})

it('approves a call of a paused run in a continued one', async () => {
  const agent = new Agent(said([call, { text: 'Three.' }]))
  const chat = createChat(agent)
  const stop = chat.subscribe(() => undefined)
  void chat.getSnapshot().send('1 + 2?')
  await soon(() => expect(chat.getSnapshot().approvals).toHaveLength(1))
  agent.stopAsking()
  await until(chat, 'paused')
  const { approvals, approve } = chat.getSnapshot()
  if (approvals[0] !== undefined) await approve(approvals[0])
  await until(chat, 'completed')
  expect(shown(chat).at(-1)).toBe('assistant: Three.')
  stop()
})

it('reports an unknown call for a decision without a pending approval', async () => {
  const agent = new Agent(said([{ text: 'Hello.' }]))
  await agent.prompt('Hi.').result
  const chat = createChat(agent)
  await chat.actions.approve({ toolCallId: 'none', argumentsHash: 'x' })
  expect(chat.getSnapshot().error?.code).toBe('unknownCall')
})

it('renders current messages on the server, and hydrates from the first snapshot', async () => {
  const agent = new Agent(said([{ text: 'Hello.' }, { text: 'Again.' }]))
  const chat = createChat(agent)
  expect(chat.getServerSnapshot().messages).toHaveLength(0)
  await agent.prompt('Hi.').result
  expect(chat.getServerSnapshot().messages).toHaveLength(2)
  expect(chat.getServerSnapshot()).toBe(chat.getServerSnapshot())
  const stop = chat.subscribe(() => undefined)
  await agent.prompt('Hi again.').result
  await soon(() => expect(chat.getSnapshot().messages).toHaveLength(4))
  expect(chat.getServerSnapshot().messages).toHaveLength(2)
  stop()
})

it('shows the same after a reload or a brief unsubscribe', async () => {
  const agent = new Agent({ model: scripted([call, { text: 'Three.' }]), tools: [{ ...add, needsApproval: false }] })
  const chat = createChat(agent)
  let stop = chat.subscribe(() => undefined)
  await agent.prompt('1 + 2?').result
  await soon(() => expect(chat.getSnapshot().status).toBe('completed'))
  const before = chat.getSnapshot()
  stop()
  await undefined
  stop = chat.subscribe(() => undefined)
  await undefined
  expect(chat.getSnapshot().messages).toBe(before.messages)
  stop()
  expect(shown(createChat(agent))).toEqual(shown(chat))
  expect(createChat(agent).getSnapshot().messages[1]?.parts).toMatchObject([{ output: { sum: 3 }, status: 'done' }])
})

it('replaces one part, its message and the list per delta', async () => {
  const agent = new Agent({ model: scripted([{ text: ['One', ' two', ' three.'] }, { text: ['Four', ' five.'] }]) })
  const chat = createChat(agent)
  await agent.prompt('Count.').result
  const stop = chat.subscribe(() => undefined)
  await undefined
  const [first, ids] = [chat.getSnapshot().messages[1], chat.getSnapshot().messageIds]
  const seen = new Set<unknown>()
  const lists = new Set<unknown>()
  chat.subscribe(() => {
    const { messages, messageIds } = chat.getSnapshot()
    expect(messages[1]).toBe(first)
    if (messages.length === 4) seen.add(messageOf(chat.getSnapshot(), messages[3]?.id ?? '')?.parts[0])
    if (messages.length === 4) lists.add(messageIds)
  })
  await agent.prompt('On.').result
  await soon(() => expect(chat.getSnapshot().status).toBe('completed'))
  expect(seen.size).toBeGreaterThan(1)
  expect([lists.size, chat.getSnapshot().messageIds.slice(0, 2)]).toEqual([1, ids])
  stop()
})

it('sends no request during server rendering', async () => {
  const asked: string[] = []
  const session = remoteSession({
    url: 'http://localhost',
    sessionId: 's',
    fetch: (request) => {
      asked.push(request.url)
      return new Response('', { status: 404 })
    },
  })
  const chat = createChat(session)
  chat.subscribe(() => undefined)()
  await undefined
  expect([asked, chat.getServerSnapshot().status]).toEqual([[], 'loading'])
})

it('returns current messages as a stable object before any subscription', async () => {
  const agent = new Agent(said([{ text: 'One.' }, { text: 'Two.' }]))
  const chat = createChat(agent)
  await agent.prompt('Count.').result
  expect(shown(chat)).toEqual(['user: Count.', 'assistant: One.'])
  const run = agent.prompt('On.')
  expect(chat.getSnapshot()).toBe(chat.getSnapshot())
  await run.result
  expect(shown(chat)).toHaveLength(4)
  expect(chat.getSnapshot()).toBe(chat.getSnapshot())
})

it('loads the whole session once it can be read', async () => {
  const options = said([{ text: 'One.' }, { text: 'Two.' }])
  const sessions = memoryLiveSessions({ store: memorySessionStore(), agent: () => options })
  const app = createAgentApp({ sessions, authorize: 'loopbackOnly' })
  let isDown = false
  const fetch = async (request: Request) => (isDown ? new Response('<h1>502</h1>', { status: 502 }) : app.fetch(request))
  const open = () => remoteSession({ url: 'http://localhost', sessionId: 's', fetch, logger: false, reconnect: { initialDelayMs: 1 } })
  const first = open()
  await first.prompt('Count.').result
  isDown = true
  const session = open()
  const chat = createChat(session)
  const stop = chat.subscribe(() => undefined)
  await soon(() => expect(chat.getSnapshot().error).toBeDefined())
  isDown = false
  await soon(() => expect(session.messages).toHaveLength(2))
  expect(await chat.getSnapshot().send('On.')).toBe(true)
  await until(chat, 'completed')
  expect(shown(chat)).toEqual(['user: Count.', 'assistant: One.', 'user: On.', 'assistant: Two.'])
  await chat.getSnapshot().reload()
  expect(shown(chat)).toHaveLength(4)
  stop()
  session.close()
  first.close()
  await sessions.close()
})

it('shows how a run ended that started before any subscription', async () => {
  const agent = new Agent({ model: scripted([{ fail: { code: 'auth', message: 'The key is wrong.' } }, { text: 'Good day.' }]) })
  const chat = createChat(agent)
  // A click right after the page was drawn, and before its parts listen.
  expect(await chat.actions.send('Hello')).toBe(true)
  await vi.waitFor(() => expect(agent.currentRun).toBeUndefined(), patient)
  const stop = chat.subscribe(() => undefined)
  await vi.waitFor(() => expect(chat.getSnapshot()).toMatchObject({ status: 'error', error: { code: 'auth' } }), patient)
  stop()
  expect(await chat.actions.send('Hello again')).toBe(true)
  await vi.waitFor(() => expect(chat.getSnapshot().status).toBe('completed'), patient)
})

it('continues an interrupted response with proceed() after a reload', async () => {
  const store = memorySessionStore()
  // The page is gone: nothing of its run comes any more.
  const gate = vi.fn<() => Promise<void>>(() => new Promise(() => undefined)).mockResolvedValueOnce(undefined)
  const model = scripted([{ text: 'One, two.' }], { chunkSize: 4, gate })
  const lost = new Agent({ model, session: store, sessionId: 's' }).prompt('Count.')
  await new Promise<void>((resolve) => lost.subscribe(({ type }) => type === 'messageUpdate' && resolve()))
  const agent = await resumeAgent(store, 's', said([{ text: 'Three.' }]))
  const chat = createChat(agent)
  const stop = chat.subscribe(() => undefined)
  expect(shown(chat)).toEqual(['user: Count.'])
  expect(await chat.actions.proceed()).toBe(true)
  await until(chat, 'completed')
  expect(shown(chat)).toEqual(['user: Count.', 'assistant: Three.'])
  stop()
  lost.abort()
})
