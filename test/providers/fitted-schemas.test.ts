import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonSchema } from '../../src/contract/json.ts'
import { fits, formatSent, toolSent, type Wire, wires } from './schema-wires.ts'

describe('schemas for Claude', () => {
  const { anthropic: wire } = wires as { anthropic: Wire }
  const amount = (changes: JsonObject): JsonSchema => ({
    type: 'object',
    properties: { amount: { type: 'integer', ...changes } },
    required: ['amount'],
    additionalProperties: false,
  })

  it('sends plain integers and describes their limits in the description', async () => {
    const { schema, warnings } = await formatSent(wire, amount({ minimum: -9007199254740991, maximum: 9007199254740991 }))
    expect(schema).toEqual(amount({ description: '(minimum: -9007199254740991, maximum: 9007199254740991)' }))
    expect(warnings).toEqual(['responseFormat place is sent without minimum of amount, maximum of amount: responses are still validated'])
  })

  it('keeps the constraints of union branches and their sibling fields', async () => {
    const place: JsonSchema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      anyOf: [
        { properties: { street: { type: 'string' } }, required: ['street'] },
        { properties: { box: { type: 'integer' } }, required: ['box'] },
      ],
    }
    const { schema } = await formatSent(wire, { type: 'object', properties: { place }, required: ['place'], additionalProperties: false })
    expect(fits(schema, { place: { city: 'Bonn', street: 'Markt' } })).toBe(true)
    expect(fits(schema, { place: { city: 'Bonn', box: 7 } })).toBe(true)
    expect(fits(schema, { place: { city: 'Bonn' } })).toBe(false)
    expect(fits(schema, { place: { street: 'Markt' } })).toBe(false)
  })

  it('uses an answer tool for a recursive schema', async () => {
    const tree = { type: 'object', properties: { next: { $ref: '#' } }, additionalProperties: false }
    const { schema, json } = await formatSent(wire, tree)
    expect(schema).toEqual({})
    expect(json.tools).toMatchObject([{ name: 'respond_json', input_schema: { properties: { next: { $ref: '#' } } } }])
  })
})

describe('schemas for OpenAI', () => {
  const { 'chat, strict': wire } = wires as { 'chat, strict': Wire }

  it('requires null for an optional property of a strict schema', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' }, kind: { enum: ['a'] } }, required: ['city'] }
    const { json } = await formatSent(wire, schema)
    expect(json.response_format.json_schema).toMatchObject({
      strict: true,
      schema: {
        properties: { city: { type: 'string' }, kind: { anyOf: [{ enum: ['a'] }, { type: 'null' }] } },
        required: ['city', 'kind'],
        additionalProperties: false,
      },
    })
  })

  it('disables strict mode for an open object and warns', async () => {
    const { json, warnings } = await formatSent(wire, {
      type: 'object',
      properties: { map: { type: 'object', additionalProperties: { type: 'string' } } },
    })
    expect(json.response_format.json_schema).toMatchObject({
      strict: false,
      schema: { properties: { map: { additionalProperties: { type: 'string' } } } },
    })
    expect(warnings).toEqual([expect.stringMatching(/strict: false, because it has an object that takes any property/)])
  })
})

it('omits property names that Claude rejects, but accepts them in the output', async () => {
  const filter = { $filter: { type: 'string' }, top: { type: 'integer' } }
  const parameters = { type: 'object', properties: filter, required: ['$filter'], additionalProperties: false }
  const { schema, warnings } = await toolSent(wires.anthropic as Wire, parameters)
  expect(schema).toEqual({ type: 'object', description: '(also takes $filter)', properties: { top: { type: 'integer' } }, required: [] })
  expect(fits(schema, { $filter: 'a eq 1' })).toBe(true)
  expect(warnings).toEqual([expect.stringContaining('the name of $filter')])
})

it('omits boolean enums for Gemini with a warning', async () => {
  const done = { type: 'boolean', enum: [true] }
  const { schema, warnings } = await toolSent(wires.gemini as Wire, { type: 'object', properties: { done } })
  expect(schema.properties).toEqual({ done: { type: 'boolean', description: '(enum: [true])' } })
  expect(warnings).toEqual([expect.stringContaining('without enum of done')])
})

it('converts the boolean bounds of draft 4 to numbers', async () => {
  const age = { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false }
  const { schema } = await toolSent(wires.anthropic as Wire, { type: 'object', properties: { age } })
  expect(schema.properties).toEqual({ age: { type: 'number', minimum: 0, exclusiveMinimum: 0, maximum: 9 } })
})

it('keeps the fields next to an inlined reference', async () => {
  const base = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  const place = { $ref: '#/$defs/base', properties: { b: { type: 'string' } } }
  const { schema } = await toolSent(wires['bedrock, Nova'] as Wire, { type: 'object', properties: { place }, $defs: { base } })
  expect(schema.properties).toMatchObject({ place: { properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a'] } })
})

it('omits types without possible values', async () => {
  const kind = { type: ['string', 'integer'], enum: ['a'] }
  const schema = { type: 'object', properties: { kind }, required: ['kind'], additionalProperties: false }
  expect((await formatSent(wires.anthropic as Wire, schema)).schema.properties).toEqual({ kind: { type: 'string', enum: ['a'] } })
})
