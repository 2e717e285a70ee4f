import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { SchemaValidator } from '../../src/types/standard-schema.ts'
import type { AgentTool, ToolParameters } from '../../src/types/tool/tool.ts'
import { formatIssues } from '../../src/validation/format-issues.ts'
import { checkArguments, toolJsonSchema } from '../../src/validation/tool-parameters.ts'

function toolWith(parameters: ToolParameters, rest: Partial<AgentTool> = {}): AgentTool {
  return { name: 'tool', label: 'tool', description: 'tool', parameters, execute: () => '', ...rest }
}

const raw = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] }

describe('toolJsonSchema', () => {
  it('returns a raw JSON Schema unchanged', () => {
    expect(toolJsonSchema(toolWith(raw))).toBe(raw)
  })

  it('converts a Standard Schema once and caches the result', () => {
    const tool = toolWith(z.object({ query: z.string().describe('q') }))
    const schema = toolJsonSchema(tool)
    expect(schema).toMatchObject({ type: 'object', properties: { query: { type: 'string', description: 'q' } }, required: ['query'] })
    expect(toolJsonSchema(tool)).toBe(schema)
  })

  it('prefers jsonSchema over a Standard Schema', () => {
    expect(toolJsonSchema(toolWith(v.object({ query: v.string() }), { jsonSchema: raw }))).toBe(raw)
  })

  it('throws invalidTool if no JSON Schema is available', () => {
    expect(() => toolJsonSchema(toolWith(v.object({})))).toThrow(expect.objectContaining({ code: 'invalidTool' }))
  })
})

describe('checkArguments', () => {
  it('validates a flat schema synchronously', () => {
    const tool = toolWith(raw)
    expect(checkArguments(tool, { query: 'a' })).toEqual({ value: { query: 'a' } })
    expect(checkArguments(tool, { query: 5 })).toEqual({ issues: [{ path: ['query'], message: 'expected string, got number' }] })
  })

  it('validates other schemas with the interpreter, loaded on first use', async () => {
    const tool = toolWith({ ...raw, properties: { query: { type: 'string', pattern: '^a' } } })
    expect(await checkArguments(tool, { query: 'a' })).toEqual({ value: { query: 'a' } })
    const result = checkArguments(tool, { query: 'b' })
    // Loaded by now: no promise any more.
    expect(result).not.toBeInstanceOf(Promise)
    expect(formatIssues((await result).issues ?? [])).toBe('query: expected a string matching /^a/, got "b"')
  })

  it('returns synchronously if a Standard Schema does', () => {
    expect(checkArguments(toolWith(z.object({ n: z.number() })), { n: 1 })).toEqual({ value: { n: 1 } })
  })

  it('lets a Standard Schema validate and transform', async () => {
    const tool = toolWith(z.object({ n: z.string().transform(Number), m: z.number().default(1) }))
    expect(await checkArguments(tool, { n: '5' })).toEqual({ value: { n: 5, m: 1 } })
    expect(formatIssues((await checkArguments(tool, { n: 5 })).issues ?? [])).toMatch(/^n: .*expected string/)
  })

  it('awaits asynchronous schemas', async () => {
    const tool = toolWith(
      v.objectAsync({
        a: v.pipeAsync(
          v.string(),
          v.checkAsync(async (text) => text === 'ok', 'is not ok'),
        ),
      }),
    )
    expect((await checkArguments(tool, { a: 'ok' })).issues).toBe(undefined)
    expect(formatIssues((await checkArguments(tool, { a: 'x' })).issues ?? [])).toBe('a: is not ok')
  })

  it('uses the configured validator and compiles once per tool', () => {
    let compiled = 0
    const validator: SchemaValidator = {
      compile: () => {
        compiled += 1
        return (value) => ({ value })
      },
    }
    const tool = toolWith(raw)
    checkArguments(tool, { query: 1 }, validator)
    expect(checkArguments(tool, { query: 2 }, validator)).toEqual({ value: { query: 2 } })
    expect(compiled).toBe(1)
  })

  it('converts everything that a validator throws into issues', async () => {
    const failing = z.object({
      a: z.string().refine(() => {
        throw new Error('boom')
      }),
    })
    const rejecting = v.objectAsync({
      a: v.pipeAsync(
        v.string(),
        v.checkAsync(() => Promise.reject(new Error('boom'))),
      ),
    })
    const throwing: SchemaValidator = {
      compile: () => {
        throw new Error('boom')
      },
    }
    for (const result of [
      checkArguments(toolWith(failing), { a: 'x' }),
      checkArguments(toolWith(rejecting, { jsonSchema: raw }), { a: 'x' }),
      checkArguments(toolWith(raw), {}, throwing),
    ]) {
      expect(formatIssues((await result).issues ?? [])).toMatch(/could not be validated: /)
    }
    expect((await checkArguments(toolWith({ type: 'object', unknownKeyword: 1 }), {})).issues).toHaveLength(1)
  })
})

describe('formatIssues', () => {
  it('writes one line per issue with a readable path', () => {
    const issues = [
      { path: ['files', 0, { key: 'name' }], message: 'is required' },
      { path: ['a b\n', '__proto__'], message: 'two\nlines' },
      { message: 'wrong' },
    ]
    expect(formatIssues(issues)).toBe('files[0].name: is required\n["a b\\n"].__proto__: two lines\narguments: wrong')
  })
})
