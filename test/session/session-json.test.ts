import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Agent, memorySessionStore } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { logSessionStore, memoryDriver, parseSession } from '../../src/session.ts'
import { add } from '../support/play.ts'

/** A session that was recorded, as JSON. */
async function recorded() {
  const store = memorySessionStore()
  const call = { toolCalls: [{ id: 'c1', name: 'add', arguments: { a: 1, b: 2 } }] }
  const agent = new Agent({ model: scripted([call, { text: 'three' }, { text: 'b' }]), tools: [add], session: store, sessionId: 's' })
  await agent.prompt('sum').result
  await agent.prompt('again').result
  return JSON.parse(JSON.stringify(await store.load('s')))
}

/** A copy in which `path` is `value`, or gone. */
function changed(session: object, path: string, value?: unknown): object {
  const copy = structuredClone(session)
  const keys = path.split('.')
  const last = keys.pop() ?? ''
  // biome-ignore lint/suspicious/noExplicitAny: a walk through JSON
  const parent = keys.reduce((each: any, key) => each[key], copy)
  if (value === undefined) delete parent[last]
  else parent[last] = value
  return copy
}

/** A store that counts what is asked of it. */
function watched() {
  const driver = memoryDriver()
  const state = { claims: 0 }
  const store = logSessionStore({
    ...driver,
    claim: (...place) => {
      state.claims += 1
      return driver.claim(...place)
    },
  })
  return { store, state }
}

const wrong: [string, unknown, string][] = [
  ['agentId', 5, 'session.agentId: expected string, got number'],
  ['loops', undefined, 'session.loops: expected array, got nothing'],
  ['scope', 'forever', 'session.scope: expected ephemeral|persistent, got "forever"'],
  ['formation.type', 'magic', 'session.formation.type: expected'],
  ['loops.1.status', 'done', 'session.loops[1].status: expected completed|'],
  ['loops.0.messages.1.content.0.type', 'foo', 'session.loops[0].messages[1].content[0].type: expected text|'],
  ['loops.0.messages.0.id', undefined, 'session.loops[0].messages[0].id: expected string, got nothing'],
  ['loops.0.turns.0.usage.input', '3', 'session.loops[0].turns[0].usage.input: expected number, got string'],
  ['loops.0.turns.0.toolResults.0.toolCallId', undefined, 'session.loops[0].turns[0].toolResults[0].toolCallId: expected string'],
  ['loops.0.startedAt', Number.NaN, 'session.loops[0].startedAt is NaN'],
  ['loops.0.metadata', () => 'x', 'session.loops[0].metadata is a function'],
  ['loops.0.prunes', [{}], 'session.loops[0].prunes[0].id: expected string'],
]

describe('save validation', () => {
  it.each(wrong)('reports the error in %s without writing', async (path, value, message) => {
    const { store, state } = watched()
    const session = await recorded()
    const bad =
      typeof value === 'function' ? { ...session, loops: [{ ...session.loops[0], metadata: value }] } : changed(session, path, value)
    const saving = store.save(bad as never)
    await expect(saving).rejects.toMatchObject({ name: 'SessionError', code: 'invalidSession', message: expect.stringContaining(message) })
    expect([state.claims, await store.listIds()]).toEqual([0, []])
  })

  it('rejects duplicate loop ids and non-session values', async () => {
    const { store, state } = watched()
    const session = await recorded()
    const twice = changed(session, 'loops.1.loopId', session.loops[0].loopId)
    await expect(store.save(twice as never)).rejects.toThrow('session.loops[1].loopId')
    for (const value of [undefined, null, 'text', [], 7]) {
      await expect(store.save(value as never)).rejects.toMatchObject({ code: 'invalidSession' })
    }
    expect(state.claims).toBe(0)
  })

  it('saves a session completely or rejects it', async () => {
    const session = await recorded()
    const paths = pathsOf(session)
    const value = fc.oneof(fc.constant(undefined), fc.integer(), fc.string(), fc.constant(null), fc.constant([]), fc.constant({}))
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), value, async (path, other) => {
        const { store } = watched()
        const bad = changed(session, path, other) as typeof session
        const outcome = await store.save(bad).then(
          () => 'saved',
          (error) => error.code,
        )
        if (outcome !== 'saved') expect(['invalidSession', 'invalidId']).toContain(outcome)
        else expect(await store.load(bad.sessionId)).toEqual({ ...bad, loops: bad.loops.map((loop: object) => ({ ...loop, events: [] })) })
      }),
      { numRuns: 400 },
    )
  })
})

describe('parseSession', () => {
  it('parses a written session and keeps unknown keys', async () => {
    const session = { ...(await recorded()), later: { x: 1 } }
    expect(parseSession(JSON.stringify(session))).toEqual(session)
  })

  it('reports the path without quoting the text', async () => {
    const session = await recorded()
    const bad = changed(session, 'loops.0.messages.0.content', 'my password is x')
    const reading = () => parseSession(JSON.stringify(bad))
    expect(reading).toThrow('session.loops[0].messages[0].content: expected array, got string')
    expect(reading).not.toThrow('password')
    expect(() => parseSession('{"my password')).toThrow('session: not valid JSON (13 characters)')
    expect(() => parseSession('{"my password')).not.toThrow('password is')
  })
})

function pathsOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, part]) => {
    const own = path === '' ? key : `${path}.${key}`
    return [own, ...pathsOf(part, own)]
  })
}
