import { describe, expect, it, vi } from 'vitest'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { remoteSession } from '../../src/client.ts'
import { extensionMessage } from '../../src/context.ts'
import { Agent, type AgentEvent, type AgentOptions, memorySessionStore, type PromptInput } from '../../src/index.ts'
import { definePlugin } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { createChat, createStore, restoredState } from '../../src/store.ts'
import { agUiEncoder, agUiStanding } from '../../src/ui/ag-ui.ts'
import { toUiMessages } from '../../src/ui/ai-sdk.ts'
import { tool } from '../support/play.ts'
import { encoded, read } from '../ui/ai-sdk/read-chunks.ts'

const note = () => ({ role: 'extension', id: 'n', kind: 'note', data: { text: 'Ann joined' } }) as const
const user = { role: 'user', id: 'u', content: 'Go.' } as const
const part = { name: 'note', dataId: 'n', value: { text: 'Ann joined' } }
const uiPart = { type: 'data-note', id: 'n', data: { text: 'Ann joined' } }
const custom = { type: 'CUSTOM', name: 'note', value: { id: 'n', data: { text: 'Ann joined' } } }

/** Runs one prompt, and returns all events. */
async function played(prompt: PromptInput, options: Partial<AgentOptions> = {}) {
  const model = scripted([{ text: 'Done.' }, { text: 'Again.' }])
  const agent = new Agent({ model, ...options })
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  await agent.prompt(prompt).result
  return { agent, events, model }
}

const noteAfter: PromptInput = [user, note()]
const noteBefore: PromptInput = [note(), user]

/** A run whose tool steers an extension message. */
const steered = async () => {
  const model = scripted([{ toolCalls: [{ id: 'c', name: 'look', arguments: {} }] }, { text: 'Done.' }])
  const agent: Agent = new Agent({ model, tools: [tool('look', () => void agent.currentRun?.steer(note()))] })
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  await agent.prompt(user).result
  return { agent, events, model }
}

describe('extension messages of an application', () => {
  it('never reach the model', async () => {
    for (const { model } of [await played(noteAfter), await played(noteBefore), await steered()])
      expect(JSON.stringify(model.provider.requests)).not.toContain('Ann joined')
  })

  it('are messages and data of the store and the chat, live and after a reload', async () => {
    const agent = new Agent({ model: scripted([{ text: 'Done.' }]) })
    const store = createStore(agent, { schedule: (publish) => publish() })
    const chat = createChat(agent, { schedule: (publish) => publish() })
    await agent.prompt(noteAfter).result
    expect(store.getSnapshot().messages.find(({ id }) => id === 'n')?.message).toEqual(note())
    expect(store.getSnapshot().data).toEqual([part])
    expect(chat.getSnapshot().data).toEqual([part])
    expect(restoredState(agent.messages).data).toEqual([part])
    store.close()
  })

  it('reach the store when the next run starts if they were appended between runs', async () => {
    const agent = new Agent({ model: scripted([{ text: 'Done.' }, { text: 'Again.' }]) })
    const store = createStore(agent, { schedule: (publish) => publish() })
    await agent.prompt('Go.').result
    agent.appendMessage(note())
    await agent.prompt('Go on.').result
    expect(store.getSnapshot().data).toEqual([part])
    expect(store.getSnapshot().messages.map(({ id }) => id)).toEqual(agent.messages.map(({ id }) => id))
    store.close()
  })

  it.each([
    ['after the prompt', () => played(noteAfter)],
    ['during the run', steered],
  ])('are the same data parts of useChat live and after a reload: %s', async (_when, run) => {
    const { agent, events } = await run()
    const live = await read(encoded(events))
    expect(live?.parts).toContainEqual(uiPart)
    const restored = toUiMessages(agent.messages).at(-1)
    expect(live?.id).toBe(restored?.id)
    expect(live?.parts.map(({ type }) => type)).toEqual(restored?.parts.map(({ type }) => type))
    expect(restored?.parts).toContainEqual(uiPart)
  })

  it('are in the response of useChat if they precede the prompt, with the id of the response', async () => {
    const { agent, events } = await played(noteBefore)
    const live = await read(encoded(events))
    expect(live?.parts.map(({ type }) => type)).toEqual(['data-note', 'step-start', 'text'])
    const restored = toUiMessages(agent.messages)
    expect(live?.id).toBe(restored.at(-1)?.id)
    expect(restored[0]).toEqual({ id: 'n', role: 'assistant', parts: [uiPart] })
  })

  it.each([
    ['before the prompt', noteBefore],
    ['after the prompt', noteAfter],
  ])('are CUSTOM events of AG-UI, again after a reload: %s', async (_when, prompt) => {
    const { agent, events } = await played(prompt)
    const encoder = agUiEncoder()
    const sent = events.flatMap((event) => encoder.encode(event))
    expect(sent.filter((event) => event.type === 'CUSTOM' && event.name === 'note')).toEqual([custom])
    expect(sent[0]).toMatchObject({ type: 'RUN_STARTED', input: { messages: [{ id: 'u' }] } })
    expect(agUiStanding({ history: agent.messages })).toContainEqual(custom)
  })

  it('wait for the id of the response, as data of a hook before it does', async () => {
    const hooks: AgentOptions['hooks'] = { beforeTurn: ({ data }) => data('turn', 0, { id: 't' }) }
    const { agent, events } = await played(noteBefore, { hooks })
    expect(
      toUiMessages(agent.messages)
        .at(-1)
        ?.parts.map(({ type }) => type),
    ).toEqual(['data-turn', 'step-start', 'text'])
    const live = await read(encoded(events))
    expect(live?.parts.map(({ type }) => type)).toEqual(['data-turn', 'data-note', 'step-start', 'text'])
    expect(live?.id).toBe(toUiMessages(agent.messages).at(-1)?.id)
    const encoder = agUiEncoder()
    const [start] = events.flatMap((event) => encoder.encode(event))
    expect(start).toMatchObject({ type: 'RUN_STARTED', input: { messages: [{ id: 'u' }] } })
  })

  it('do not include those of the runtime and the notes of plugins', async () => {
    const keeps = definePlugin({ name: 'p', begin: ({ keep }) => ({ beforeTurn: () => keep({ secret: 1 }) }) })
    const { agent, events } = await played('Go.', { plugins: [keeps] })
    expect(agent.messages.map(({ role }) => role)).toContain('extension')
    const reserved = ['phi-limit', 'phi.usage', 'approvalPaused', 'callsInterrupted', 'backgroundReport', 'plugin.p']
    const messages = [...agent.messages, ...reserved.map((kind) => extensionMessage(kind, {}))]
    expect(restoredState(messages).data).toEqual([])
    expect(JSON.stringify([toUiMessages(messages), encoded(events)])).not.toContain('secret')
  })
})

describe('extension messages over HTTP', () => {
  it('reach the store of a remote session, and one that is opened later', async () => {
    const sessions = memoryLiveSessions({
      store: memorySessionStore(),
      agent: () => ({ model: scripted([{ text: 'Done.' }]), messages: [note()] }),
    })
    const app = createAgentApp({ sessions, authorize: () => true })
    const open = () =>
      remoteSession({ url: 'http://localhost', sessionId: 's', fetch: async (request) => app.fetch(request), logger: false })
    const first = createStore(open(), { schedule: (publish) => publish() })
    await open().prompt('Go.').result
    await vi.waitFor(() => expect(first.getSnapshot().data).toEqual([part]))
    const second = open()
    await second.load()
    expect(createStore(second).getSnapshot().data).toEqual([part])
    first.close()
    await sessions.close()
  })

  it('reach a client of useChat, and a client that reloads after the session was evicted', async () => {
    const store = memorySessionStore()
    const host = () =>
      memoryLiveSessions({
        store,
        agent: () => {
          const model = scripted([{ toolCalls: [{ id: 'c', name: 'look', arguments: {} }] }, { text: 'Done.' }])
          return { model, tools: [tool('look', () => 'seen')], messages: [note()] }
        },
      })
    const json = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const first = host()
    const app = createAgentApp({ sessions: first, authorize: () => true })
    const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Go.' }] }
    const shown = { id: 'n', role: 'assistant', parts: [uiPart] }
    const body = JSON.stringify({ id: 's', messages: [shown, message], trigger: 'submit-message' })
    await (await app.request('/chat', { ...json, body })).text()
    await first.close()
    const again = createAgentApp({ sessions: host(), authorize: () => true })
    const { messages } = await (await again.request('/chat/s')).json()
    expect(messages[0]).toEqual({ id: 'n', role: 'assistant', parts: [uiPart] })
    expect(messages.map(({ role }: { role: string }) => role)).toEqual(['assistant', 'user', 'assistant'])
  })
})
