import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod'
import { Agent, memorySessionStore, RunError } from '../../src/index.ts'
import type { LoopHooks } from '../../src/loop.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { createStore } from '../../src/store.ts'
import type { ResponseFormatInput } from '../../src/types/model/provider.ts'
import { patient } from '../support/patience.ts'
import { add, fastRetry } from '../support/play.ts'

const recipe = z.object({ title: z.string(), steps: z.array(z.object({ text: z.string() })) })
const whole = { title: 'Tea', steps: [{ text: 'Boil water.' }, { text: 'Wait.' }] }
const pieces = (value: unknown, size = 5): string[] => JSON.stringify(value).match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? []

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const value of values) list.push(structuredClone(value))
  return list
}

describe('run.partial', () => {
  // The first test here: what reads is loaded meanwhile.
  it('yields the complete value despite a tiny replay buffer', async () => {
    const run = new Agent({ model: scripted([{ text: pieces(whole, 3) }]), responseFormat: recipe, replayBytes: 1 }).prompt('tea?')
    const seen = await all(run.partial())
    expect(seen.at(-1)).toEqual(whole)
  })

  it('yields partial values during streaming, while the result contains the validated value', async () => {
    const run = new Agent({ model: scripted([{ text: pieces(whole, 3) }]), responseFormat: recipe }).prompt('tea?')
    const seen = await all(run.partial())
    expect(seen.length).toBeGreaterThan(5)
    expect(seen[0]).toEqual({})
    expect(seen).toContainEqual({ title: 'Te' })
    expect(seen.at(-1)).toEqual(whole)
    expect((await run.result).output).toEqual(whole)
    // @ts-expect-error: of a partial value anything may be missing
    void (() => seen[0].title.length)
  })

  it('discards the output of a failed attempt', async () => {
    const model = scripted([
      { text: ['{"title": "Cof'], fail: { code: 'network', message: 'cut', afterText: true } },
      { text: pieces(whole) },
    ])
    const run = new Agent({ model, responseFormat: recipe, retry: fastRetry, logger: false }).prompt('tea?')
    const seen = await all(run.partial())
    expect(seen.at(-1)).toEqual(whole)
  })

  it('parses the response after tool calls', async () => {
    const model = scripted([{ text: 'Let me see.', toolCalls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: pieces(whole) }])
    expect((await all(new Agent({ model, tools: [add], responseFormat: recipe }).prompt('tea?').partial())).at(-1)).toEqual(whole)
  })

  it('throws at the end of a failed run', async () => {
    const model = scripted([{ text: ['{"title": "Te'], fail: { code: 'auth', message: 'refused' } }])
    const run = new Agent({ model, responseFormat: recipe, logger: false }).prompt('tea?')
    await expect(all(run.partial())).rejects.toBeInstanceOf(RunError)
  })
})

describe('a response that a hook replaces', () => {
  const secret = { text: ['{"title": "sec', 'ret", "steps": []}'] }

  it('discards the original response and parses the replacement', async () => {
    const hooks: LoopHooks = { afterAnswer: ({ text }) => (text.includes('secret') ? { text: JSON.stringify(whole) } : true) }
    const run = new Agent({ model: scripted([secret]), responseFormat: recipe, hooks, logger: false }).prompt('tea?')
    const seen = await all(run.partial())
    expect(seen).toContainEqual({ title: 'sec' })
    expect(seen.at(-1)).toEqual(whole)
  })

  it('removes the partial output from the UI store on a rejection', async () => {
    const agent = new Agent({
      model: scripted([secret]),
      responseFormat: recipe,
      hooks: { afterAnswer: () => ({ allow: false, retry: false }) },
      logger: false,
    })
    const store = createStore(agent)
    await agent.prompt('tea?').result
    await vi.waitFor(() => expect(store.getSnapshot().status).toBe('rejected'), patient)
    expect(store.getOutput()).toBeUndefined()
  })
})

describe('late readers of partial output', () => {
  it('yields the complete value after early events are evicted', async () => {
    const list = Array.from({ length: 2000 }, (_, at) => `item ${at}`)
    const agent = new Agent({
      model: scripted([{ text: pieces({ value: list }, 20) }]),
      responseFormat: z.array(z.string()),
      replayBytes: 4096,
    })
    const run = agent.prompt('list?')
    await run.result
    expect((await all(run.partial())).at(-1)).toEqual(list)
    expect(await all(run.elements())).toEqual(list)
  })
})

describe('run.elements', () => {
  it('yields each element of a list once complete', async () => {
    const run = new Agent({ model: scripted([{ text: pieces(whole, 3) }]), responseFormat: recipe }).prompt('tea?')
    expect(await all(run.elements('steps'))).toEqual(whole.steps)
  })

  it('yields the elements of a top-level list', async () => {
    const names = z.array(z.string())
    const run = new Agent({ model: scripted([{ text: pieces({ value: ['Ann', 'Bob'] }, 2) }]), responseFormat: names }).prompt('names?')
    const seen: string[] = []
    for await (const name of run.elements()) seen.push(name)
    expect(seen).toEqual(['Ann', 'Bob'])
    expect((await run.result).output).toEqual(['Ann', 'Bob'])
  })
})

describe('response formats other than objects', () => {
  it.each<[string, ResponseFormatInput, object | undefined]>([
    ['a list', z.array(z.string()), { property: 'value' }],
    ['an object', recipe, {}],
    ['any object', { type: 'jsonObject' }, {}],
    ['non-JSON text', { type: 'text' }, undefined],
  ])('records the output path of %s in agentStart and the session', async (_name, responseFormat, output) => {
    const session = memorySessionStore()
    const agent = new Agent({ model: scripted([{ text: '{"value": ["a"]}' }]), responseFormat, session, logger: false })
    const run = agent.prompt('go')
    const starts: unknown[] = []
    for await (const event of run) if (event.type === 'agentStart') starts.push(event.configSnapshot.output)
    expect(starts).toEqual([output])
    expect((await session.load(run.sessionId))?.loops.map(({ config }) => config?.output)).toEqual([output])
  })

  it.each([
    ['a list', z.array(z.number()), [1, 2]],
    ['a string', z.string(), 'yes'],
    ['an enum', z.enum(['spam', 'ham']), 'ham'],
    [
      'a union of objects',
      z.discriminatedUnion('kind', [z.object({ kind: z.literal('a'), n: z.number() }), z.object({ kind: z.literal('b') })]),
      { kind: 'a', n: 1 },
    ],
    ['a boolean', { type: 'boolean' }, true],
  ])('requests %s in a wrapper object and unwraps it', async (_name, schema, value) => {
    const model = scripted([{ text: pieces({ value }) }])
    const agent = new Agent({ model, responseFormat: schema as z.ZodType })
    const run = agent.prompt('go')
    const seen = await all(run.partial())
    expect(seen.at(-1)).toEqual(value)
    expect((await run.result).output).toEqual(value)
    expect(model.provider.requests[0]?.responseFormat).toMatchObject({
      type: 'jsonSchema',
      schema: { type: 'object', required: ['value'], additionalProperties: false },
    })
  })

  it.each([
    ['a list', z.array(z.number()), [1, 2]],
    ['a string', z.string(), 'yes'],
    ['an object', z.union([z.object({ n: z.number() }), z.object({ s: z.string() })]), { n: 1 }],
  ])('accepts %s without its wrapper', async (_name, schema, value) => {
    const agent = new Agent({ model: scripted([{ text: pieces(value, 2) }]), responseFormat: schema as z.ZodType })
    const run = agent.prompt('go')
    expect((await all(run.partial())).at(-1)).toEqual(value)
    expect((await run.result).output).toEqual(value)
    if (Array.isArray(value)) expect(await all(run.elements())).toEqual(value)
  })

  it('resolves schema references inside the wrapper', async () => {
    const tree = { $ref: '#/$defs/node', $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } } }
    const model = scripted([{ text: '{"value": {"next": {}}}' }])
    const { output } = await new Agent({ model, responseFormat: tree }).prompt('go').result
    expect(output).toEqual({ next: {} })
    expect(model.provider.requests[0]?.responseFormat).toMatchObject({
      schema: { properties: { value: { $ref: '#/$defs/node' } }, $defs: { node: {} } },
    })
  })
})

describe('repair', () => {
  const wrong = { text: '{"title": 3}' }

  it("repeats the request with the response's validation errors", async () => {
    const model = scripted([wrong, { text: JSON.stringify(whole) }])
    const { output, status } = await new Agent({ model, responseFormat: recipe, repair: 1, logger: false }).prompt('tea?').result
    expect({ output, status }).toEqual({ output: whole, status: 'completed' })
    const told = JSON.stringify(model.provider.requests[1]?.messages.at(-1))
    expect(told).toContain('title')
    expect(told).toContain('Answer again')
  })

  it('repairs up to the configured limit, by default never', async () => {
    const often = scripted([wrong, wrong, wrong])
    expect(
      (await new Agent({ model: often, responseFormat: recipe, logger: false }).prompt('tea?', { repair: 2 }).result).output,
    ).toBeUndefined()
    expect(often.provider.requests).toHaveLength(3)
    const never = scripted([wrong])
    await new Agent({ model: never, responseFormat: recipe, logger: false }).prompt('tea?').result
    expect(never.provider.requests).toHaveLength(1)
  })
})
