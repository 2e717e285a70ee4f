import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as v from 'valibot'
import { beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { Agent, type AgentTool, defineTool, type InferTools } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
import { run } from '../harness/packed.ts'
import { context } from './context.ts'

interface Weather {
  city: string
  rain?: number
  at: Date
  station?: { name?: string }
}

const at = new Date(Date.UTC(2026, 0, 2))
const weather: Weather = { city: 'Oslo', at }
const base = { name: 'look', description: 'Looks.' } as const
const city = z.object({ city: z.string(), days: z.number().default(1) })
const json = { type: 'object', properties: { city: { type: 'string' } } } as const

describe('defineTool takes what tools return', () => {
  const tools = [
    defineTool({ ...base, parameters: city, execute: () => weather }),
    defineTool({ ...base, parameters: city, execute: async (): Promise<Weather> => weather }),
    defineTool({ ...base, parameters: city, execute: () => at }),
    defineTool({ ...base, parameters: city, execute: async ({ days }) => ({ at, days: days.toFixed() }) }),
    defineTool({ ...base, parameters: city, execute: (): unknown => weather }),
    defineTool({ ...base, parameters: city, execute: async (): Promise<Record<string, unknown>> => ({ ...weather }) }),
    defineTool({ ...base, parameters: city, execute: async () => JSON.parse('{}') }),
    defineTool({ ...base, parameters: city, execute: async (): Promise<void> => undefined }),
    defineTool({ ...base, parameters: v.object({ city: v.string() }), jsonSchema: json, execute: (args) => ({ ...weather, ...args }) }),
    defineTool<{ city: string }>({ ...base, parameters: json, execute: (args): Weather => ({ ...weather, ...args }) }),
    defineTool({ ...base, parameters: json, execute: (args: { city: string }) => ({ ...weather, ...args }) }),
  ] satisfies AgentTool[]

  it('with zod, valibot and JSON Schema, and runs them', async () => {
    for (const tool of tools) await tool.execute({ city: 'Oslo', days: 2 }, context())
  })

  it('and shows the model and the application what JSON makes of a Date', async () => {
    const look = defineTool({ ...base, parameters: json, execute: () => ({ ...weather, days: [at] }) })
    const now = defineTool({ ...base, name: 'now', parameters: json, execute: () => at })
    const calls = [look, now].map(({ name }) => ({ name, arguments: {} }))
    const agent = new Agent({ model: scripted([{ toolCalls: calls }, { text: 'ok' }]), tools: [look, now] })
    const ended: unknown[] = []
    agent.subscribe((event) => event.type === 'toolExecutionEnd' && ended.push(event.result.details))
    await agent.prompt('Look.').text()
    const told = '2026-01-02T00:00:00.000Z'
    expect(ended).toEqual([{ city: 'Oslo', at: told, days: [told] }, told])
  })

  it('and tells a page the types that JSON makes of them', () => {
    const look = defineTool({ ...base, parameters: city, execute: () => weather })
    expectTypeOf<InferTools<readonly [typeof look]>['look']>().toEqualTypeOf<{
      input: { city: string; days?: number | undefined }
      output: { city: string; rain?: number; at: string; station?: { name?: string } }
    }>()
  })
})

describe.each([true, false])('the compiler, with exactOptionalPropertyTypes %s, says of a result that JSON cannot hold', (exact) => {
  const schemas = {
    zod: 'parameters: z.object({ city: z.string() })',
    valibot: "parameters: v.object({ city: v.string() }), jsonSchema: { type: 'object' }",
    json: "parameters: { type: 'object' }",
  }
  let said = ''
  beforeAll(() => {
    const folder = mkdtempSync(resolve('test/tools/.types-'))
    try {
      for (const [name, parameters] of Object.entries(schemas)) writeFileSync(join(folder, `${name}.ts`), program(parameters))
      said = tsc(folder, exact)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }, 120_000)

  it.each(Object.keys(schemas))('that execute may not return it, and nothing of the schema: %s', (name) => {
    const errors = said.split('\n').filter((line) => line.startsWith(`${name}.ts(`))
    expect(errors).toEqual([expect.stringMatching(/^\w+\.ts\(5,\d+\): error TS2322: .*JSON cannot hold what execute returns/)])
    expect(errors[0]).not.toContain('Schema')
  })
})

/** A tool that returns what JSON can hold, and in line 5 one that does not. */
function program(parameters: string): string {
  const tool = (returned: string) => `defineTool({ name: 'look', description: 'Looks.', ${parameters}, execute: () => (${returned}) })`
  return `import { z } from 'zod'
import * as v from 'valibot'
import { defineTool } from '../../../src/index.ts'
export const good = ${tool('{ at: new Date() }')}
export const bad = ${tool('new Map<string, string>()')}
export const used = [z, v]
`
}

/** What tsc says about the programs in a folder. */
function tsc(folder: string, exact: boolean): string {
  const strict = ['--ignoreConfig', '--strict', '--skipLibCheck', '--noEmit', '--allowImportingTsExtensions']
  const target = ['--target', 'es2023', '--module', 'nodenext', '--types', 'node', '--exactOptionalPropertyTypes', String(exact)]
  try {
    return run(resolve('node_modules/.bin/tsc'), [...strict, ...target, 'zod.ts', 'valibot.ts', 'json.ts'], folder)
  } catch (error) {
    return String(error)
  }
}
