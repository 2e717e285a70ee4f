import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import { defineTool } from '../../src/index.ts'
import { context } from './context.ts'

const base = { name: 'add', description: 'Adds.', execute: () => 'done' }

describe('defineTool', () => {
  it('infers types from a zod schema and runs the tool', async () => {
    const tool = defineTool({
      name: 'add',
      description: 'Adds.',
      parameters: z.object({ a: z.number(), b: z.number().default(2) }),
      needsApproval: ({ a }) => a > 10,
      execute: ({ a, b }) => (a + b).toFixed(1),
    })
    expect(tool.label).toBe('add')
    expect(await tool.execute({ a: 1, b: 2 }, context())).toBe('3.0')
    expect(typeof tool.needsApproval === 'function' && (await tool.needsApproval({ a: 11 }, { context: undefined }))).toBe(true)
  })

  it('accepts execute functions that return nothing or text with flags', async () => {
    const saved: string[] = []
    const save = (text: string): void => {
      saved.push(text)
    }
    const parameters = z.object({ text: z.string() })
    const saves = [
      defineTool({ ...base, parameters, execute: ({ text }) => save(text) }),
      defineTool({ ...base, parameters, execute: async ({ text }) => save(text) }),
      defineTool({ ...base, parameters, execute: async ({ text }): Promise<void> => save(text) }),
      defineTool({ ...base, parameters, execute: ({ text }) => (text === '' ? undefined : 'saved') }),
      defineTool({ ...base, parameters, execute: ({ text }) => ({ content: text, endRun: true }) }),
    ]
    // @ts-expect-error A tool may return nothing that JSON cannot represent.
    defineTool({ ...base, parameters, execute: () => 1n })
    // @ts-expect-error
    defineTool({ ...base, parameters, execute: () => new Map<string, string>() })
    const returned = await Promise.all(saves.map((tool) => tool.execute({ text: 'a' }, context())))
    expect(returned).toEqual([undefined, undefined, undefined, 'saved', { content: 'a', endRun: true }])
    expect(saved).toEqual(['a', 'a', 'a'])
  })

  it('accepts a raw JSON Schema with typed arguments', async () => {
    const tool = defineTool<{ path: string }>({
      ...base,
      parameters: { type: 'object', properties: { path: { type: 'string' } } },
      execute: ({ path }) => path.toUpperCase(),
    })
    expect(await tool.execute({ path: 'a' }, context())).toBe('A')
  })

  it('accepts a Standard Schema with a separate JSON Schema', () => {
    const jsonSchema = { type: 'object', properties: { a: { type: 'string' } } }
    const tool = defineTool({ ...base, parameters: v.object({ a: v.string() }), jsonSchema, execute: ({ a }) => a.trim() })
    expect(tool.jsonSchema).toBe(jsonSchema)
  })

  it.each(['', 'a b', 'ünïcode', 'x'.repeat(65), 'a.b', '../x'])('rejects the tool name %j', (name) => {
    expect(() => defineTool({ ...base, name, parameters: { type: 'object' } })).toThrow(expect.objectContaining({ code: 'invalidTool' }))
  })

  it.each(['x', '__proto__', 'constructor', 'a-b_C9', 'x'.repeat(64)])('accepts the tool name %j', (name) => {
    expect(defineTool({ ...base, name, parameters: { type: 'object' } }).name).toBe(name)
  })

  it('explains how to provide a missing JSON Schema', () => {
    const parameters = mini.object({ a: mini.string() })
    expect(() => defineTool({ ...base, parameters })).toThrow(/zod.*Pass one as "jsonSchema"/)
    expect(() => defineTool({ ...base, parameters: z.object({ at: z.date() }) })).toThrow(/Or pass one as "jsonSchema"/)
  })

  it('rejects a non-object root schema', () => {
    expect(() => defineTool({ ...base, parameters: z.string() })).toThrow(/object schema/)
    expect(() => defineTool({ ...base, parameters: { anyOf: [{ type: 'object' }] } })).toThrow(/object schema/)
  })

  it('rejects an unenforceable keyword and reports tool, keyword and path', () => {
    const parameters = { type: 'object', properties: { a: { type: 'string', startsWith: 'x' } } }
    const expected = { code: 'unsupportedSchema', message: expect.stringMatching(/"add".*#\/properties\/a\/startsWith.*"startsWith"/) }
    expect(() => defineTool({ ...base, parameters })).toThrow(expect.objectContaining(expected))
  })

  it.each([{ pattern: '(?=a)b' }, { pattern: '(a)\\1' }, { patternProperties: { '(?<!x)y': {} } }])(
    'rejects a pattern without bounded matching time: %j',
    (schema) => {
      const parameters = { type: 'object', properties: { x: schema } } as const
      expect(() => defineTool({ ...base, parameters })).toThrow(/in bounded time/)
    },
  )

  it('rejects invalid options of untyped callers', () => {
    const define = (options: object) => () => Reflect.apply(defineTool, undefined, [options])
    expect(define({ ...base, description: ' ', parameters: { type: 'object' } })).toThrow(/needs a description/)
    expect(define({ ...base, parameters: 'object' })).toThrow(/Standard Schema or a JSON Schema/)
    expect(define({ ...base, parameters: null })).toThrow(/Standard Schema or a JSON Schema/)
    expect(define({ ...base, parameters: { type: 'object' }, execute: 'x' })).toThrow(/execute/)
  })
})
