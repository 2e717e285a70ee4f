import { describe, expect, it } from 'vitest'
import { mcpTools } from '../../adapters/mcp/index.ts'
import type { AgentTool, JsonSchema, StandardSchema } from '../../src/index.ts'
import { generations, offering } from './in-memory.ts'

async function toolOf(inputSchema: object): Promise<AgentTool> {
  const connect = generations['sdk 1.x']
  if (connect === undefined) throw new Error('no client')
  const answering = offering(
    () => [{ name: 'act', inputSchema }],
    () => ({ result: { content: [] } }),
  )
  const [tool] = await mcpTools((await connect(answering)).client)
  if (tool === undefined) throw new Error('no tool')
  return tool
}

const many = <T>(count: number, of: (at: number) => [string, T]): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => of(at)))

describe('schemas of a hostile server', () => {
  it('validates in bounded time with thousands of properties and definitions', async () => {
    const $defs = many(4000, (at) => [`d${at}`, { type: 'string' }])
    const properties = { n: { type: 'number' }, bad: { type: 'nonsense' }, ...many(2000, (at) => [`p${at}`, { type: 'string' }]) }
    const { parameters } = await toolOf({ type: 'object', properties, required: ['n'], $defs })
    const { validate } = (parameters as StandardSchema)['~standard']
    expect(await validate({})).toHaveProperty('issues')
    expect(await validate({ n: 'x' })).toHaveProperty('issues')
    expect(await validate({ n: 1, p1999: 5 })).not.toHaveProperty('issues')
  })

  it('passes a very long reference chain on without validation', async () => {
    const $defs = many(4500, (at): [string, JsonSchema] => [`d${at}`, { not: { $ref: `#/$defs/d${at + 1}` } }])
    expect((await toolOf({ type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs })).jsonSchema).toHaveProperty('$defs')
  })
})
