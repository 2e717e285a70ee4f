import { describe, expect, it } from 'vitest'
import { Agent, defineTool, type JsonObject } from '../../src/index.ts'
import { scripted } from '../../src/providers/scripted/index.ts'

/** What a raw schema lets through, found out by letting a model call a tool with it. */
async function accepts(schema: JsonObject, args: JsonObject): Promise<boolean> {
  let executed = false
  const tool = defineTool({
    name: 'probe',
    label: 'Probe',
    description: 'Takes what its schema allows.',
    parameters: { type: 'object', properties: { value: schema }, required: ['value'] },
    execute: () => {
      executed = true
      return 'ok'
    },
  })
  const model = scripted([{ toolCalls: [{ name: 'probe', arguments: args }] }, { text: 'done' }])
  const { messages } = await new Agent({ model, tools: [tool] }).prompt('Go.').result
  const result = messages.find((message) => message.role === 'toolResult')
  expect(result?.isError).toBe(!executed)
  return executed
}

/** Workers forbid code generation and Deno runs this file with it switched off: a schema must be enforced without. */
describe('JSON Schema validation', () => {
  it('enforces JSON Schema without code generation', async () => {
    const word: JsonObject = { type: 'string', pattern: '^[a-z]+$', maxLength: 5 }
    expect(await accepts(word, { value: 'abc' })).toBe(true)
    expect(await accepts(word, { value: 'ABC' })).toBe(false)
    expect(await accepts(word, { value: 'abcdef' })).toBe(false)
    expect(await accepts(word, {})).toBe(false)
    const choice: JsonObject = { anyOf: [{ type: 'integer', minimum: 1 }, { enum: ['all', null] }] }
    expect(await accepts(choice, { value: 3 })).toBe(true)
    expect(await accepts(choice, { value: null })).toBe(true)
    expect(await accepts(choice, { value: 0.5 })).toBe(false)
    const list: JsonObject = { type: 'array', items: { type: 'object', required: ['id'] }, uniqueItems: true }
    expect(await accepts(list, { value: [{ id: 1 }, { id: 2 }] })).toBe(true)
    expect(await accepts(list, { value: [{ id: 1 }, {}] })).toBe(false)
    expect(await accepts(list, { value: [{ id: 1 }, { id: 1 }] })).toBe(false)
  })
})
