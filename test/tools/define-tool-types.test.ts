import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { Agent, type AgentTool, defineTool, type InferTools } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'
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

describe('result types of defineTool', () => {
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

  it('accepts zod, valibot and JSON Schema and runs the tools', async () => {
    for (const tool of tools) await tool.execute({ city: 'Oslo', days: 2 }, context())
  })

  it('passes the JSON form of a Date to the model and the application', async () => {
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

  it('infers the JSON types for the UI', () => {
    const look = defineTool({ ...base, parameters: city, execute: () => weather })
    expectTypeOf<InferTools<readonly [typeof look]>['look']>().toEqualTypeOf<{
      input: { city: string; days?: number | undefined }
      output: { city: string; rain?: number; at: string; station?: { name?: string } }
    }>()
  })
})
