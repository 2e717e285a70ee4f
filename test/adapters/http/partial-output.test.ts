import { HttpAgent } from '@ag-ui/client'
import { DefaultChatTransport, readUIMessageStream } from 'ai'
import { afterAll, describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { createAgentApp, memoryLiveSessions } from '../../../adapters/http/index.ts'
import { namesIn, outputSubscriber } from '../../../examples/recipes/models/partial-objects-page.ts'
import { type RemoteSession, remoteSession } from '../../../src/client.ts'
import { memorySessionStore } from '../../../src/index.ts'
import { scripted } from '../../../src/providers/scripted/index.ts'
import { createStore } from '../../../src/store.ts'
import { outputOf } from '../../../src/ui/ai-sdk.ts'
import { serve } from '../../harness/serve.ts'
import { patient } from '../../support/patience.ts'

const steps = ['Boil water.', 'Pour it.', 'Wait.']
const pieces = (value: unknown): string[] => JSON.stringify(value).match(/.{1,3}/g) ?? []
const kinds = {
  list: { responseFormat: z.array(z.string()), said: { value: steps }, value: steps },
  object: { responseFormat: z.object({ steps: z.array(z.string()) }), said: { steps }, value: { steps } },
  word: { responseFormat: z.enum(['spam', 'ham']), said: { value: 'ham' }, value: 'ham' },
}
let openGate = (): void => undefined
const gate = new Promise<void>((resolve) => {
  openGate = resolve
})
const sessions = memoryLiveSessions({
  store: memorySessionStore(),
  agent: ({ sessionId }) => {
    const kind = Object.entries(kinds).find(([name]) => sessionId.startsWith(name))?.[1]
    if (sessionId.startsWith('gated'))
      return { model: scripted(() => gate.then(() => ({ text: pieces(kinds.list.said) }))), responseFormat: kinds.list.responseFormat }
    if (kind === undefined) return { model: scripted([{ text: ['4', '2'] }]) }
    return { model: scripted([{ text: pieces(kind.said) }, { text: pieces(kind.said) }]), responseFormat: kind.responseFormat }
  },
})
const server = await serve(createAgentApp({ sessions, authorize: 'loopbackOnly' }).fetch)
afterAll(async () => {
  await sessions.close()
  await server[Symbol.asyncDispose]()
})

const opened: RemoteSession[] = []
afterAll(() => Promise.all(opened.map((session) => session.close())))
function open(kind: string): RemoteSession {
  const session = remoteSession({ url: server.url, sessionId: `${kind}-${crypto.randomUUID()}` })
  opened.push(session)
  return session
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const value of values) list.push(value)
  return list
}

/** What a page of the AI SDK shows, look by look. */
async function chatLooks(id: string): Promise<unknown[]> {
  const transport = new DefaultChatTransport({ api: `${server.url}/chat` })
  const stream = await transport.sendMessages({
    chatId: id,
    trigger: 'submit-message',
    messageId: undefined,
    messages: [{ id: crypto.randomUUID(), role: 'user', parts: [{ type: 'text', text: 'Tea?' }] }],
    abortSignal: undefined,
  })
  const looks: unknown[] = []
  for await (const message of readUIMessageStream({ stream })) {
    const output = outputOf(message)
    looks.push(output)
    expect(namesIn(message)).toEqual(Array.isArray(output) ? output : [])
  }
  return looks
}

/** What a client of AG-UI shows, look by look. */
async function agUiLooks(threadId: string): Promise<unknown[]> {
  const client = new HttpAgent({ url: `${server.url}/agui`, threadId })
  client.addMessage({ id: crypto.randomUUID(), role: 'user', content: 'Tea?' })
  const looks: unknown[] = []
  await client.runAgent(
    {},
    outputSubscriber((output) => looks.push(output)),
  )
  return looks
}

describe.each(Object.entries(kinds))('partial output over HTTP: %s', (kind, { value }) => {
  it('yields partial values of a remote run without their wrapper', async () => {
    const run = open(kind).prompt('Tea?')
    const seen = await all<unknown>(run.partial())
    expect(seen.length).toBeGreaterThan(1)
    expect(seen.at(-1)).toEqual(value)
  })

  it('updates the value of a UI store', async () => {
    const session = open(kind)
    const store = createStore(session)
    const seen: unknown[] = []
    store.subscribe(() => {
      expect(store.getOutput()).toBe(store.getOutput())
      if (store.getOutput() !== undefined) seen.push(store.getOutput())
    })
    await session.prompt('Tea?').result
    await session.prompt('Once more?').result
    store.close()
    expect(seen.length).toBeGreaterThan(1)
    expect(seen.at(-1)).toEqual(value)
  })

  it('updates the value of a useChat message', async () => {
    const looks = await chatLooks(`${kind}-${crypto.randomUUID()}`)
    expect(new Set(looks.map((look) => JSON.stringify(look))).size).toBeGreaterThan(2)
    expect(looks.at(-1)).toEqual(value)
  })

  it('updates the value of an AG-UI client', async () => {
    const looks = await agUiLooks(`${kind}-${crypto.randomUUID()}`)
    expect(looks.length).toBeGreaterThan(2)
    expect(looks.at(-1)).toEqual(value)
  })
})

it('yields the elements of a remote run without the wrapper', async () => {
  expect(await all<unknown>(open('list').prompt('Tea?').elements())).toEqual(steps)
  expect(await all<unknown>(open('object').prompt('Tea?').elements('steps'))).toEqual(steps)
})

it('yields the same value to a client that subscribes late', async () => {
  const first = open('gated')
  const run = first.prompt('Tea?')
  for await (const { type } of run) if (type === 'turnStart') break
  const second = remoteSession({ url: server.url, sessionId: first.sessionId })
  opened.push(second)
  await second.load()
  const stores = [createStore(first), createStore(second)]
  openGate()
  await Promise.all([run.result, second.currentRun?.result])
  expect(await all<unknown>(run.elements())).toEqual(steps)
  await vi.waitFor(() => expect(stores.map((store) => store.getOutput())).toEqual([steps, steps]), patient)
  for (const store of stores) store.close()
})

it('ignores JSON-like text if the output is plain text', async () => {
  const session = open('plain')
  const store = createStore(session)
  await session.prompt('How many?').result
  expect(store.getOutput()).toBeUndefined()
  store.close()
  expect(await chatLooks(`plain-${crypto.randomUUID()}`)).not.toContain(42)
  expect(await agUiLooks(`plain-${crypto.randomUUID()}`)).toEqual([])
})
