import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createAgentApp, memoryLiveSessions } from '../../adapters/http/index.ts'
import { SubAgentTool } from '../../src/agents.ts'
import { Agent, type AgentEvent, type AgentOptions, memorySessionStore, resumeAgent, type ToolContext } from '../../src/index.ts'
import { definePlugin } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { createStore, restoredState } from '../../src/store.ts'
import { agUiEncoder, agUiStanding } from '../../src/ui/ag-ui.ts'
import { toUiMessages, uiMessageEncoder } from '../../src/ui/ai-sdk.ts'
import { ofType, tool } from '../support/play.ts'
import { encoded, read } from '../ui/ai-sdk/read-chunks.ts'

const call = { toolCalls: [{ id: 'c1', name: 'look', arguments: {} }] }

/** Runs one call of a tool that does `act`, and returns all events. */
async function played(act: (ctx: ToolContext) => unknown, options: Partial<AgentOptions> = {}) {
  const agent = new Agent({
    model: scripted([call, { text: 'Done.' }]),
    tools: [tool('look', (_args, ctx) => act(ctx) ?? 'seen')],
    ...options,
  })
  const events: AgentEvent[] = []
  agent.subscribe((event) => events.push(event))
  const result = await agent.prompt('Go.').result
  return { agent, events, result }
}

const stepping = (ctx: ToolContext): void => {
  ctx.data('steps', { done: 1 }, { id: 's' })
  ctx.data('steps', { done: 2 }, { id: 's' })
  ctx.data('cursor', 7, { id: 'c', transient: true })
}

describe('data parts', () => {
  it('emits parts immediately and stores the last part per id at the end of the turn, except transient parts', async () => {
    const { agent, events } = await played(stepping)
    expect(
      ofType(events, 'data').map(({ name, dataId, value, transient, toolCallId }) => [name, dataId, value, transient, toolCallId]),
    ).toEqual([
      ['steps', 's', { done: 1 }, undefined, 'c1'],
      ['steps', 's', { done: 2 }, undefined, 'c1'],
      ['cursor', 'c', 7, true, 'c1'],
    ])
    const stored = agent.messages.filter(({ role }) => role === 'extension')
    expect(stored).toEqual([expect.objectContaining({ kind: 'data', data: { name: 'steps', dataId: 's', value: { done: 2 } } })])
  })

  it('sends no part to the model', async () => {
    const model = scripted([call, { text: 'Done.' }])
    await played(stepping, { model })
    expect(JSON.stringify(model.provider.requests.map(({ messages }) => messages))).not.toContain('steps')
  })

  it('accepts parts from hooks, plugins and sub-agents', async () => {
    const child = new SubAgentTool({
      name: 'child',
      description: 'Works.',
      model: scripted([call, { text: 'Done.' }]),
      tools: [tool('look', (_args, ctx) => ctx.data('found', 1, { id: 'f' }))],
    })
    const { events } = await played(() => undefined, {
      model: scripted([{ toolCalls: [{ id: 'c1', name: 'child', arguments: { task: 'Go.' } }] }, { text: 'Done.' }]),
      tools: [child],
      hooks: { beforeTurn: ({ data, turnIndex }) => data('turn', turnIndex, { id: `t${turnIndex}` }) },
      plugins: [definePlugin({ name: 'p', begin: ({ data }) => ({ beforeTurn: () => data('plugin', true, { transient: true }) }) })],
    })
    const names = new Set(ofType(events, 'data').map(({ name }) => name))
    expect([...names].toSorted()).toEqual(['found', 'plugin', 'turn'])
    expect(ofType(events, 'data').find(({ name }) => name === 'found')).toMatchObject({ toolCallId: 'c1', dataId: 'f', value: 1 })
  })

  it('copies values and restores parts from the store after a reload', async () => {
    const store = memorySessionStore()
    const value = { list: [1] }
    const { agent } = await played(
      (ctx) => {
        ctx.data('list', value, { id: 'l' })
        value.list.push(2)
      },
      { session: store },
    )
    await agent.close()
    const there = await resumeAgent(store, agent.sessionId, { model: scripted([]) })
    expect(restoredState(there.messages).data).toEqual([{ name: 'list', dataId: 'l', value: { list: [1] } }])
  })

  it.each<[string, string, unknown, object]>([
    ['a name with a space', 'my data', 1, {}],
    ['a name of this package', 'phi-limit', 1, {}],
    ['a value that is no JSON', 'a', new Map(), {}],
    ['a value that is too long', 'a', 'x'.repeat(262_145), {}],
    ['an unknown option', 'a', 1, { transcient: true }],
    ['an empty id', 'a', 1, { id: '' }],
  ])('rejects %s', async (_case, name, value, options) => {
    let error: unknown
    const { events } = await played((ctx) => {
      try {
        ctx.data(name, value, options)
      } catch (thrown) {
        error = thrown
      }
    })
    expect(error).toMatchObject({ code: 'invalidOption' })
    expect(ofType(events, 'data')).toEqual([])
  })

  it("validates values against the agent's schemas and rejects names without a schema", async () => {
    const errors: string[] = []
    const data = { steps: z.object({ done: z.number() }) }
    const { events } = await played(
      (ctx) => {
        for (const [name, value] of [
          ['steps', { done: 'two' }],
          ['other', 1],
          ['steps', { done: 2, more: true }],
        ] as const) {
          try {
            ctx.data(name, value)
          } catch (error) {
            errors.push(String(error))
          }
        }
      },
      { data },
    )
    expect(errors).toEqual([expect.stringContaining('done'), expect.stringContaining('The agent has steps')])
    expect(ofType(events, 'data').map(({ value }) => value)).toEqual([{ done: 2 }])
  })

  it('stores at most 1,000 parts per turn, and ignores parts sent after the call', async () => {
    let late: ToolContext | undefined
    let error: unknown
    const { agent, events } = await played((ctx) => {
      late = ctx
      try {
        for (let at = 0; at <= 1000; at += 1) ctx.data('n', at, { id: `${at}` })
      } catch (thrown) {
        error = thrown
      }
    })
    late?.data('late', 1)
    expect(error).toMatchObject({ code: 'invalidOption' })
    expect(ofType(events, 'data')).toHaveLength(1000)
    expect(agent.messages.filter(({ role }) => role === 'extension')).toHaveLength(1000)
  })

  it('logs dataNotStored for parts sent after the last turn', async () => {
    const warn = vi.fn()
    await played(() => undefined, {
      logger: { warn },
      plugins: [definePlugin({ name: 'p', begin: ({ data }) => ({ ending: () => data('end', 1) }) })],
    })
    expect(warn).toHaveBeenCalledWith('dataNotStored', expect.anything())
  })
})

describe('data parts for clients', () => {
  it('sends useChat data parts that update in place, live and after a reload', async () => {
    const { agent, events } = await played(stepping)
    const encoder = uiMessageEncoder()
    const chunks = events.flatMap((event) => encoder.encode(event))
    expect(chunks.filter(({ type }) => type === 'data-steps' || type === 'data-cursor')).toEqual([
      { type: 'data-steps', id: 's', data: { done: 1 } },
      { type: 'data-steps', id: 's', data: { done: 2 } },
      { type: 'data-cursor', id: 'c', data: 7, transient: true },
    ])
    const parts = toUiMessages(agent.messages).at(-1)?.parts ?? []
    // What the reader of the AI SDK itself makes of the chunks.
    const live = await read(encoded(events))
    expect(live?.parts.map(({ type }) => type)).toEqual(parts.map(({ type }) => type))
    expect(live?.parts[2]).toEqual(parts[2])
    expect(parts.map(({ type }) => type)).toEqual(['step-start', 'dynamic-tool', 'data-steps', 'step-start', 'text'])
    expect(parts[2]).toEqual({ type: 'data-steps', id: 's', data: { done: 2 } })
  })

  it('sends AG-UI CUSTOM events, also after a reload', async () => {
    const { agent, events } = await played(stepping)
    const encoder = agUiEncoder()
    const custom = events
      .flatMap((event) => encoder.encode(event))
      .filter((event) => event.type === 'CUSTOM' && !event.name.startsWith('phi.'))
    expect(custom).toEqual([
      { type: 'CUSTOM', name: 'steps', value: { id: 's', data: { done: 1 } } },
      { type: 'CUSTOM', name: 'steps', value: { id: 's', data: { done: 2 } } },
      { type: 'CUSTOM', name: 'cursor', value: { id: 'c', data: 7, transient: true } },
    ])
    expect(agUiStanding({ history: agent.messages })).toContainEqual({
      type: 'CUSTOM',
      name: 'steps',
      value: { id: 's', data: { done: 2 } },
    })
  })

  it('exposes parts as data of the store, and removes transient parts when the next run starts', async () => {
    const agent = new Agent({
      model: scripted([call, { text: 'a' }, { text: 'b' }]),
      tools: [tool('look', (_args, ctx) => stepping(ctx))],
    })
    const store = createStore(agent, { schedule: (publish) => publish() })
    await agent.prompt('Go.').result
    expect(store.getSnapshot().data).toEqual([
      { name: 'steps', dataId: 's', value: { done: 2 }, toolCallId: 'c1' },
      { name: 'cursor', dataId: 'c', value: 7, transient: true, toolCallId: 'c1' },
    ])
    await agent.prompt('Go on.').result
    expect(store.getSnapshot().data.map(({ name }) => name)).toEqual(['steps'])
  })

  it('shows a stored part again when the next run removes the transient part that replaced it', async () => {
    const send = tool('look', (_args, { data }) => {
      data('total', 1, { id: 't' })
      data('total', 2, { id: 't', transient: true })
      return 'ok'
    })
    const agent = new Agent({ model: scripted([call, { text: 'a' }, { text: 'b' }]), tools: [send] })
    const store = createStore(agent, { schedule: (publish) => publish() })
    await agent.prompt('Go.').result
    expect(store.getSnapshot().data).toMatchObject([{ value: 2, transient: true }])
    await agent.prompt('Go on.').result
    expect(store.getSnapshot().data).toEqual(restoredState(agent.messages).data)
    expect(store.getSnapshot().data).toEqual([{ name: 'total', dataId: 't', value: 1 }])
  })
})

describe('data parts of a run that goes back', () => {
  it('keep the tool call that sent them', async () => {
    const agent = new Agent({
      model: scripted([call, { text: 'a' }, { text: 'b' }, { text: 'c' }]),
      tools: [tool('look', (_args, ctx) => stepping(ctx))],
    })
    const store = createStore(agent, { schedule: (publish) => publish() })
    await agent.prompt('Go.').result
    await agent.prompt('And?').result
    await agent.regenerate().result
    expect(store.getSnapshot().data).toEqual([{ name: 'steps', dataId: 's', value: { done: 2 }, toolCallId: 'c1' }])
  })
})

describe('data parts over HTTP', () => {
  it('sends parts to a client that reloads, even after the session was evicted', async () => {
    const store = memorySessionStore()
    const host = () =>
      memoryLiveSessions({
        store,
        agent: () => ({ model: scripted([call, { text: 'Done.' }]), tools: [tool('look', (_args, ctx) => stepping(ctx))] }),
      })
    const json = { method: 'POST', headers: { 'content-type': 'application/json' } }
    const first = host()
    const app = createAgentApp({ sessions: first, authorize: () => true })
    const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Go.' }] }
    const body = JSON.stringify({ id: 's', messages: [message], trigger: 'submit-message' })
    expect(await (await app.request('/chat', { ...json, body })).text()).toContain('{"type":"data-steps","id":"s","data":{"done":2}}')
    await first.close()
    const again = createAgentApp({ sessions: host(), authorize: () => true })
    const { messages } = await (await again.request('/chat/s')).json()
    expect(messages.at(-1).parts).toContainEqual({ type: 'data-steps', id: 's', data: { done: 2 } })
  })
})
