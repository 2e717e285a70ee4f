import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../src/contract/json.ts'
import type { SchemaResult } from '../../src/types/standard-schema.ts'
import { enforceableSchema } from '../../src/validation/enforceable-schema.ts'
import { flatIssues, isFlat } from '../../src/validation/flat-schema.ts'
import { resultOf } from '../../src/validation/format-issues.ts'
import { interpret } from '../../src/validation/schema-interpreter.ts'
import { runs } from '../support/runs.ts'

/** What both say about `value`; fails unless the schema is flat. */
function both(schema: JsonSchema, value: unknown): { flat: SchemaResult<unknown>; interpreted: SchemaResult<unknown> } {
  const root = enforceableSchema(schema)
  if (!isFlat(root)) throw new Error(`not flat: ${JSON.stringify(schema)}`)
  return {
    flat: resultOf(value, (checked) => flatIssues(root, checked)),
    interpreted: resultOf(value, interpret(enforceableSchema(schema))),
  }
}

function expectSame(schema: JsonSchema, value: unknown): void {
  const { flat, interpreted } = both(schema, value)
  expect(flat, `${inspect(schema)} on ${inspect(value)}`).toEqual(interpreted)
}

const names = ['a', 'b', 'a/b', '~0', 'x "y', '%25', '#', 'é 東', '__proto__', 'constructor', 'length', '0', '']
const name = fc.constantFrom(...names)
const small = fc.integer({ min: 0, max: 4 })
const limit = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(0.5, -0, 1e300))
const primitive = fc.oneof(fc.string({ maxLength: 3, unit: 'binary' }), limit, fc.boolean(), fc.constant(null))
const type = fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null')

/** Objects whose keys are own properties whatever they are called, as `JSON.parse` makes them. */
const record = <T>(key: fc.Arbitrary<string>, value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.array(fc.tuple(key, value), { maxLength: 4 }).map((pairs) => {
    const made: Record<string, T> = {}
    for (const [at, item] of pairs) Object.defineProperty(made, at, { value: item, enumerable: true, configurable: true, writable: true })
    return made
  })

const { schema } = fc.letrec<{ schema: JsonSchema; node: JsonSchema | boolean }>((tie) => ({
  node: fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.boolean(), tie('schema')),
  schema: fc
    .record(
      {
        type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
        const: primitive,
        enum: fc.array(primitive, { minLength: 1, maxLength: 3 }),
        required: fc.array(
          name.filter((each) => !each.includes('"')),
          { maxLength: 3 },
        ),
        properties: record(name, tie('node')),
        additionalProperties: tie('node'),
        items: tie('node'),
        ...Object.fromEntries(
          ['Properties', 'Items', 'Length'].flatMap((what) => [
            [`min${what}`, small],
            [`max${what}`, small],
          ]),
        ),
        minimum: limit,
        maximum: limit,
        exclusiveMinimum: limit,
        exclusiveMaximum: limit,
        description: fc.string(),
      },
      { requiredKeys: [] },
    )
    // Few keywords at a time, or hardly anything would ever be accepted.
    .chain((whole) => fc.subarray(Object.keys(whole), { maxLength: 4 }).map((keys) => pick(whole, keys))),
}))

function pick(whole: JsonSchema, keys: readonly string[]): JsonSchema {
  return Object.fromEntries(keys.map((key) => [key, whole[key]]))
}

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    primitive,
    fc.constantFrom(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, '\ud800', 'a\ud83d\ude00b'),
    fc.array(tie('json'), { maxLength: 4 }),
    record(fc.oneof({ weight: 9, arbitrary: name }, { weight: 1, arbitrary: fc.constantFrom('\udc00', 'z') }), tie('json')),
  ),
}))

describe('a flat schema', () => {
  it('validates like the interpreter: same result, same issues, same order', () => {
    let accepted = 0
    let refused = 0
    fc.assert(
      fc.property(schema, json, (anySchema, value) => {
        expectSame(anySchema, value)
        if (both(anySchema, value).flat.issues === undefined) accepted += 1
        else refused += 1
      }),
      { numRuns: runs(1500, 40_000) },
    )
    expect(Math.min(accepted, refused)).toBeGreaterThan(400)
  })

  const order = {
    type: 'object',
    properties: {
      customer: { type: 'string', minLength: 2, maxLength: 10 },
      priority: { enum: ['low', 'high', 3] },
      lines: {
        type: 'array',
        minItems: 1,
        maxItems: 3,
        items: {
          type: 'object',
          properties: { sku: { type: 'string' }, count: { type: 'integer', minimum: 1, exclusiveMaximum: 100 } },
          required: ['sku', 'count'],
          additionalProperties: false,
        },
      },
      note: { type: ['string', 'null'] },
      version: { const: 2 },
    },
    required: ['customer', 'lines'],
    additionalProperties: false,
  }
  const orders = [
    { customer: 'ab', lines: [{ sku: 'x', count: 1 }], note: null, version: 2, priority: 3 },
    { customer: '🙂', lines: [], priority: 'medium', version: '2', note: 1, extra: 1 },
    { lines: [{ sku: 1, count: 0.5, colour: 'red' }, {}, 5, null], 'a/b': 1 },
    { customer: 'x'.repeat(300), lines: Array.from({ length: 30 }, () => ({ sku: {}, count: 100 })) },
    [],
    'text',
    null,
  ]

  it.each(orders.map((value) => [value]))('validates %j like the interpreter', (value) => expectSame(order, value))

  it('validates non-JSON values like the interpreter', () => {
    for (const value of [
      { customer: undefined },
      { customer: 1n },
      { customer: () => 1 },
      new Date(0),
      new Map(),
      undefined,
      Symbol('a'),
    ]) {
      expectSame(order, value)
    }
  })

  it('uses only keywords that inspect a single location', () => {
    const flat = (value: JsonSchema): boolean => isFlat(enforceableSchema(value))
    expect(flat(order)).toBe(true)
    expect(flat({ properties: { next: { $ref: '#' } } })).toBe(false)
    expect(flat({ properties: { a: true }, $defs: { a: true } })).toBe(false)
    expect(flat({ type: 'object', title: 't', 'x-order': 1, format: 'unknown', properties: {} })).toBe(true)
    for (const beyond of [
      { pattern: 'a' },
      { format: 'date' },
      { multipleOf: 2 },
      { uniqueItems: true },
      { anyOf: [{ type: 'string' }] },
      { not: { type: 'string' } },
      { prefixItems: [true] },
      { const: { a: 1 } },
      { enum: [[1]] },
      { patternProperties: { a: true } },
      { dependentRequired: { a: ['b'] } },
    ]) {
      expect(flat(beyond), JSON.stringify(beyond)).toBe(false)
      expect(flat({ properties: { a: { items: beyond } } }), JSON.stringify(beyond)).toBe(false)
      expect(flat({ additionalProperties: beyond }), JSON.stringify(beyond)).toBe(false)
    }
  })
})
