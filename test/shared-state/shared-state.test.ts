import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { PatchOperation } from '../../src/contract/session/shared-state.ts'
import { Agent, type AgentEvent, type JsonObject, type JsonValue, memorySessionStore, resumeAgent } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { sharedState, sharedStatesOf, snapshotOf } from '../../src/session.ts'
import { gate, play, tool } from '../support/play.ts'

const board = sharedState({
  schema: z.object({ title: z.string(), steps: z.array(z.string()) }),
  initial: { title: 'Plan', steps: [] },
})
/** Writes down a step. */
const addStep = tool('add_step', async (_args, ctx) => {
  const version = await board.of(ctx).set((state) => ({ ...state, steps: [...state.steps, `step ${state.steps.length + 1}`] }))
  return `version ${version}`
})
const stepping = () => scripted([{ toolCalls: [{ name: 'add_step', arguments: {} }] }, { text: 'Done.' }])
const changes = (events: readonly AgentEvent[]) => events.filter((event) => event.type === 'sharedStateChanged')

describe('shared state', () => {
  it('emits an event when a tool changes it', async () => {
    const { agent, events } = await play([{ toolCalls: [{ name: 'add_step', arguments: {} }] }, { text: 'Done.' }], {
      sharedState: board,
      tools: [addStep],
    })
    expect([agent.sharedState?.version, agent.sharedState?.value]).toEqual([1, { title: 'Plan', steps: ['step 1'] }])
    expect(changes(events)).toMatchObject([
      { version: 1, by: 'tool', toolCallId: expect.any(String), patch: [{ op: 'add', path: '/steps/0', value: 'step 1' }] },
    ])
    expect(events.at(-1)?.type).toBe('agentEnd')
  })

  it('applies concurrent tool changes one after another', async () => {
    const toolCalls = Array.from({ length: 20 }, (_, at) => ({ name: 'add_step', arguments: {}, id: `c${at}` }))
    const { agent, events } = await play([{ toolCalls }, { text: 'Done.' }], { sharedState: board, tools: [addStep] })
    expect(agent.sharedState?.version).toBe(20)
    expect(agent.sharedState?.value.steps).toHaveLength(20)
    expect(changes(events).map((event) => event.type === 'sharedStateChanged' && event.version)).toEqual(
      Array.from({ length: 20 }, (_, at) => at + 1),
    )
  })

  it('records each version with its author, and resumes from the last', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: stepping(), session: store, sessionId: 's', sharedState: board, tools: [addStep] })
    await agent.prompt('go').result
    await agent.sharedState?.patch([{ op: 'replace', path: '/title', value: 'Better' }], { by: 'client', ifVersion: 1 })
    const { records } = await store.tail('s')
    expect(sharedStatesOf(records)).toMatchObject([
      { version: 0, by: 'application', value: { title: 'Plan', steps: [] } },
      { version: 1, by: 'tool', toolCallId: expect.any(String), value: { title: 'Plan', steps: ['step 1'] } },
      { version: 2, by: 'client', value: { title: 'Better', steps: ['step 1'] } },
    ])
    // As a process that was killed leaves it: nothing is closed.
    const next = await resumeAgent(store, 's', { model: stepping(), sharedState: board, tools: [addStep] })
    expect([next.sharedState?.version, next.sharedState?.value]).toEqual([2, { title: 'Better', steps: ['step 1'] }])
    await next.prompt('go').result
    expect(next.sharedState?.value).toEqual({ title: 'Better', steps: ['step 1', 'step 2'] })
  })

  it('reloads changes that another agent wrote to the session', async () => {
    const store = memorySessionStore()
    const options = { model: scripted(() => ({ text: 'Yes.' })), sharedState: board }
    const agent = new Agent({ ...options, session: store, sessionId: 's' })
    await agent.prompt('go').result
    await agent.close()
    const other = await resumeAgent(store, 's', options)
    await other.sharedState?.set({ title: 'Theirs', steps: [] })
    await other.prompt('theirs').result
    await other.close()
    await agent.prompt('again').result
    expect([agent.sharedState?.version, agent.sharedState?.value.title]).toEqual([1, 'Theirs'])
  })

  it('keeps the old value if the change cannot be recorded', async () => {
    const failing = memorySessionStore()
    const agent = new Agent({ model: stepping(), session: failing, sessionId: 's', sharedState: board })
    await agent.prompt('go').result
    const other = await resumeAgent(failing, 's', { model: stepping(), sharedState: board })
    await other.prompt('mine').result
    await expect(agent.sharedState?.set({ title: 'lost', steps: [] })).rejects.toMatchObject({ code: 'conflict' })
    expect(agent.sharedState?.value.title).toBe('Plan')
    expect(agent.sharedState?.version).toBe(0)
  })

  it('survives saving, checkpoints and session copies', async () => {
    const store = memorySessionStore()
    const agent = new Agent({ model: stepping(), session: store, sessionId: 's', sharedState: board, tools: [addStep] })
    await agent.prompt('go').result
    const session = await store.load('s')
    if (session === undefined) throw new Error('No session.')
    await store.save({ ...session, sessionId: 'copy' })
    expect(snapshotOf((await store.tail('copy')).records, { sessionId: 'copy' }).sharedState).toEqual({
      version: 1,
      value: { title: 'Plan', steps: ['step 1'] },
    })
    const other = new Agent({ model: stepping(), sharedState: board })
    other.restore(agent.checkpoint())
    expect(other.sharedState?.version).toBe(1)
    expect(agent.with({}).sharedState?.value.steps).toEqual(['step 1'])
    const sessionId = agent.newSession()
    await agent.prompt('on').result
    expect((await resumeAgent(store, sessionId, { model: stepping(), sharedState: board })).sharedState?.value.steps).toEqual(['step 1'])
  })

  it("shares one state between a conversation's branches", async () => {
    const agent = new Agent({ model: stepping(), sharedState: board, tools: [addStep] })
    const fork = agent.fork({ model: stepping() })
    await fork.prompt('go').result
    expect(agent.sharedState?.version).toBe(1)
  })

  it('rejects a change from a tool call that has ended', async () => {
    const [late, told] = [gate(), gate()]
    let refused: unknown
    const slow = tool(
      'slow',
      async (_args, ctx) => {
        await late.opened
        await board
          .of(ctx)
          .set({ title: 'late', steps: [] })
          .catch((error: unknown) => {
            refused = error
          })
        told.open()
        return 'late'
      },
      { timeoutMs: 1 },
    )
    const { agent } = await play([{ toolCalls: [{ name: 'slow', arguments: {} }] }, { text: 'Done.' }], {
      sharedState: board,
      tools: [slow],
    })
    late.open()
    await told.opened
    expect(refused).toMatchObject({ code: 'cancelled' })
    expect(agent.sharedState?.version).toBe(0)
  })

  it('throws in a tool whose agent has no shared state', async () => {
    const { events } = await play([{ toolCalls: [{ name: 'add_step', arguments: {} }] }, { text: 'Done.' }], { tools: [addStep] })
    expect(JSON.stringify(events)).toContain('Pass sharedState to its agent')
  })
})

describe('an invalid change of shared state', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(300)}1${'}'.repeat(300)}`)
  const open = sharedState({ schema: { type: 'object' }, initial: { a: 'text', l: ['x'] }, maxChars: 1000 })
  const refusals: [string, unknown][] = [
    ['a list', []],
    ['null', null],
    ['a function', { a: () => 1 }],
    ['an object that is too long', { a: 'x'.repeat(1000) }],
    ['an object that is too deeply nested', deep],
    ['a prototype key', JSON.parse('{"__proto__":{"polluted":true}}')],
    ['a nested prototype key', JSON.parse('{"list":[{"constructor":{"prototype":{"polluted":true}}}]}')],
    ['a reserved client key', { $version: '1.0000000000000000' }],
  ]
  it.each(refusals)('rejects the value: %s', async (_name, value) => {
    const agent = new Agent({ model: scripted([]), sharedState: open })
    await expect(agent.sharedState?.set(value as JsonObject)).rejects.toMatchObject({ code: 'invalidState' })
    expect([agent.sharedState?.version, agent.sharedState?.value]).toEqual([0, { a: 'text', l: ['x'] }])
  })

  it.each<[string, unknown]>([
    ['a patch that is not a list', { op: 'add' }],
    ['an unknown operation', [{ op: 'merge', path: '/a', value: 1 }]],
    ['an operation without a path', [{ op: 'add', value: 1 }]],
    ['more than a thousand operations', Array.from({ length: 1001 }, () => ({ op: 'test', path: '/a', value: 'text' }))],
    ['removal of the whole state', [{ op: 'replace', path: '', value: [] }]],
    ['repeated doubling', Array.from({ length: 40 }, () => ({ op: 'copy', from: '/l', path: '/l/-' }))],
  ])('rejects the patch: %s', async (_name, operations) => {
    const agent = new Agent({ model: scripted([]), sharedState: open })
    await expect(agent.sharedState?.patch(operations as PatchOperation[])).rejects.toMatchObject({ code: 'invalidState' })
    expect(agent.sharedState?.version).toBe(0)
  })

  it('rejects a value that violates either kind of schema', async () => {
    for (const rules of [
      board,
      sharedState({
        schema: { type: 'object', properties: { steps: { type: 'array', items: { type: 'string' } } }, required: ['steps'] },
        initial: { steps: [] },
      }),
    ]) {
      const agent = new Agent({ model: scripted([]), sharedState: rules })
      await expect(agent.sharedState?.set({ title: 'x', steps: [1] })).rejects.toMatchObject({
        code: 'invalidState',
        message: expect.stringContaining('steps[0]'),
      })
    }
  })

  it('rejects a change of an outdated version', async () => {
    const agent = new Agent({ model: scripted([]), sharedState: board })
    await agent.sharedState?.set({ title: 'b', steps: [] })
    await expect(agent.sharedState?.set({ title: 'c', steps: [] }, { ifVersion: 0 })).rejects.toMatchObject({ code: 'stateConflict' })
    // Two at once: one is too late.
    const [first, second] = await Promise.allSettled([
      agent.sharedState?.set({ title: 'd', steps: [] }, { ifVersion: 1 }),
      agent.sharedState?.set({ title: 'e', steps: [] }, { ifVersion: 1 }),
    ])
    expect([first?.status, second?.status, agent.sharedState?.value.title]).toEqual(['fulfilled', 'rejected', 'd'])
    await expect(agent.sharedState?.set({ title: 'd', steps: [] })).resolves.toBe(2)
  })

  it('freezes the value that it returns', () => {
    const agent = new Agent({ model: scripted([]), sharedState: board })
    expect(() => Object.assign(agent.sharedState?.value ?? {}, { title: 'other' })).toThrow(TypeError)
  })

  it.each<[string, object]>([
    ['without a schema', { initial: {} }],
    ['without an initial value', { schema: { type: 'object' } }],
    ['with an invalid name', { schema: { type: 'object' }, initial: {}, maxChar: 3 }],
    ['with an oversized initial value', { schema: { type: 'object' }, initial: { a: 'xxxx' }, maxChars: 5 }],
    ['with a prototype key in the initial value', { schema: { type: 'object' }, initial: JSON.parse('{"__proto__":1}') }],
  ])('rejects an invalid declaration: %s', (_name, options) => {
    expect(() => sharedState(options as never)).toThrow(expect.objectContaining({ code: 'invalidOption' }))
  })

  it('drops undefined values, like the log', async () => {
    const open = sharedState({ schema: { type: 'object' }, initial: {} })
    const agent = new Agent({ model: scripted([]), sharedState: open })
    expect(await agent.sharedState?.set({ a: 1, b: undefined } as never)).toBe(1)
    expect(Object.keys(agent.sharedState?.value ?? {})).toEqual(['a'])
    expect(await agent.sharedState?.set({ a: 1, c: { d: undefined } } as never)).toBe(2)
    expect(agent.sharedState?.value).toEqual({ a: 1, c: {} })
    expect(Object.keys(Object(agent.sharedState?.value.c))).toEqual([])
  })

  it('rebuilds a long log from its last full version, with shared structure', () => {
    const value = { list: Array.from({ length: 40_000 }, () => [1]), n: 0 }
    const first = { version: 0, by: 'client' as const, value }
    const rest = Array.from({ length: 1000 }, (_, at) => ({
      ...{ version: at + 1, by: 'client' as const },
      patch: [{ op: 'replace' as const, path: '/n', value: at + 1 }],
    }))
    const records = [first, ...rest].map((entry, seq) => ({ seq, epoch: 1, at: 1, entry: { type: 'sharedState' as const, ...entry } }))
    expect(snapshotOf(records, { sessionId: 's' }).sharedState).toEqual({ version: 1000, value: { ...value, n: 1000 } })
    const states = sharedStatesOf(records)
    expect(states.map((state) => state.value.n)).toEqual(Array.from({ length: 1001 }, (_, at) => at))
    expect(states[7]?.value.list).toBe(states[1000]?.value.list)
    expect(value.n).toBe(0)
  })

  it('ignores a logged patch that produces a non-object', () => {
    const change = { version: 1, by: 'client' as const, patch: [{ op: 'replace' as const, path: '', value: 5 }] }
    const entries = [{ version: 0, by: 'client' as const, value: { n: 0 } }, change]
    const records = entries.map((entry, seq) => ({ seq, epoch: 1, at: 1, entry: { type: 'sharedState' as const, ...entry } }))
    expect(snapshotOf(records, { sessionId: 's' }).sharedState).toEqual({ version: 0, value: { n: 0 } })
  })

  it('accepts large changes: long replaced lists and deep nesting', async () => {
    const open = sharedState({ schema: { type: 'object' }, initial: { list: Array.from({ length: 120_000 }, () => 0) } })
    const agent = new Agent({ model: scripted([]), sharedState: open })
    await agent.sharedState?.set({ list: Array.from({ length: 120_000 }, () => 1) })
    const below = (leaf: JsonValue) => Array.from({ length: 190 }).reduce<JsonValue>((inner) => [inner], leaf)
    for (const last of [1, 2])
      await agent.sharedState?.set({ deep: below(Array.from({ length: 120_000 }, (_, at) => (at === 119_999 ? last : 0))) })
    expect(agent.sharedState?.version).toBe(3)
  })
})
