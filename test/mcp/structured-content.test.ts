import { describe, expect, it } from 'vitest'
import { mcpTools } from '../../adapters/mcp/index.ts'
import { type JsonObject, textOf } from '../../src/index.ts'
import { ofType, play } from '../support/play.ts'
import { generations, offering } from './in-memory.ts'

const weather = {
  type: 'object',
  properties: { celsius: { type: 'number' }, place: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
  required: ['celsius'],
}
const good = { celsius: 21, place: { city: 'Oslo' } }

/** The result of one call of `read`, whose server declares `outputSchema` and answers with `result`. */
async function called(connect: (typeof generations)[string], outputSchema: unknown, result: JsonObject) {
  const list = () => [{ name: 'read', inputSchema: { type: 'object' }, outputSchema }]
  const { client } = await connect(offering(list, () => ({ result })))
  const tools = await mcpTools(client)
  const { events } = await play([{ toolCalls: [{ name: 'read', arguments: {} }] }, { text: 'done' }], { tools })
  const [end] = ofType(events, 'toolExecutionEnd')
  if (end === undefined) throw new Error('The tool was not called.')
  return { text: textOf(end.result.content), details: end.result.details, isError: end.isError }
}

describe.each(Object.entries(generations))('structured content of an MCP server: %s', (_name, connect) => {
  const content = [{ type: 'text', text: 'It is warm.' }]

  it('passes on a value that matches the output schema', async () => {
    const given = { content, structuredContent: good }
    expect(await called(connect, weather, given)).toEqual({ text: 'It is warm.', details: good, isError: false })
  })

  it.each([
    ['a missing property', { place: { city: 'Oslo' } }, 'celsius'],
    ['a wrong type', { celsius: 'warm' }, 'celsius'],
    ['a wrong type further down', { celsius: 1, place: { city: 4 } }, 'place.city'],
  ])('drops a value with %s from the details and tells the model', async (_what, structuredContent, path) => {
    const { text, details, isError } = await called(connect, weather, { content, structuredContent })
    expect(text).toMatch(/^It is warm\.\n?\[structuredContent does not match the tool's outputSchema: /)
    expect(text).toContain(path)
    expect([details, isError]).toEqual([undefined, false])
  })

  it('passes on the value of a failed call unchecked', async () => {
    const given = { content, structuredContent: { code: 4 }, isError: true }
    expect(await called(connect, weather, given)).toEqual({ text: 'It is warm.', details: { code: 4 }, isError: true })
  })

  it.each([
    ['a string in place of an object', 'text'],
    ['an unknown type', { type: 'object', properties: { celsius: { type: 'degrees' } } }],
    ['a reference to itself', { type: 'object', properties: { celsius: { $ref: '#/properties/celsius' } } }],
    ['a pattern of exponential time', { type: 'object', properties: { celsius: { type: 'string', pattern: '^(a+)+$' } } }],
  ])('calls a tool whose output schema has %s', async (_what, outputSchema) => {
    const { text, isError } = await called(connect, outputSchema, { content, structuredContent: { celsius: `${'a'.repeat(40)}!` } })
    expect(text.startsWith('It is warm.')).toBe(true)
    expect(isError).toBe(false)
  })
})

it('uses the output schema of the newest list', async () => {
  const connect = generations['sdk 1.x']
  if (connect === undefined) throw new Error('no client')
  let outputSchema: object = { type: 'object' }
  const result = { content: [], structuredContent: { celsius: 'warm' } }
  const { client } = await connect(
    offering(
      () => [{ name: 'read', inputSchema: { type: 'object' }, outputSchema }],
      () => ({ result }),
    ),
  )
  const tools = await mcpTools(client)
  outputSchema = weather
  await tools.refresh()
  const { events } = await play([{ toolCalls: [{ name: 'read', arguments: {} }] }, { text: 'done' }], { tools })
  expect(ofType(events, 'toolExecutionEnd')[0]?.result.details).toBeUndefined()
})

it('says that structured content is too large to be kept', async () => {
  const connect = generations['sdk 1.x']
  if (connect === undefined) throw new Error('no client')
  const { text, details } = await called(connect, undefined, { content: [], structuredContent: { a: 'x'.repeat(300_000) } })
  expect([details, text.slice(-60)]).toEqual([undefined, expect.stringContaining('[structuredContent is not JSON, or too large]')])
})
