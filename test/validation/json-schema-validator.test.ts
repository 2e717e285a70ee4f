import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../src/contract/json.ts'
import { ajvValidator } from '../../src/tools.ts'
import type { SchemaValidator } from '../../src/types/standard-schema.ts'
import { enforceableSchema } from '../../src/validation/enforceable-schema.ts'
import { formatIssues, resultOf } from '../../src/validation/format-issues.ts'
import { jsonSchemaValidator } from '../../src/validation/json-schema-validator.ts'
import { interpret } from '../../src/validation/schema-interpreter.ts'
import { schemaValidatorSuite } from '../../testing/schema/schema-validator-suite.ts'

/** The validator as it is once the interpreter is there: it answers at once. */
const validator: SchemaValidator = {
  compile(schema) {
    const check = jsonSchemaValidator.compile(schema)
    return (value) => {
      const result = check(value)
      if (result instanceof Promise) throw new Error('The interpreter is loaded, and yet there is a promise.')
      return result
    }
  },
}

beforeAll(async () => {
  await jsonSchemaValidator.compile({ pattern: 'a' })('a')
})

schemaValidatorSuite({ describe, it, expect }, { name: 'flat check and interpreter', create: () => validator })

const interpreter: SchemaValidator = {
  compile(schema) {
    const find = interpret(enforceableSchema(schema))
    return (value) => resultOf(value, find)
  },
}
schemaValidatorSuite({ describe, it, expect }, { name: 'interpreter alone', create: () => interpreter })

function complaint(schema: JsonSchema, value: unknown): string {
  return formatIssues(validator.compile(schema)(value).issues ?? [])
}

describe('jsonSchemaValidator', () => {
  const file = { type: 'object', properties: { name: { type: 'string' }, size: { type: ['integer', 'null'] } }, required: ['name'] }
  const schema = {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 2 },
      mode: { enum: ['fast', 'slow'] },
      files: { type: 'array', items: { $ref: '#/$defs/file' }, maxItems: 2 },
      target: { anyOf: [{ type: 'string' }, { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }] },
    },
    required: ['query'],
    additionalProperties: false,
    $defs: { file },
  }

  it.each([
    [{ query: 1 }, 'query: expected string, got number'],
    [{ query: 'a' }, 'query: expected at least 2 characters, got 1'],
    [{}, 'query: is required'],
    [{ query: 'ab', mode: 'medium' }, 'mode: expected one of "fast", "slow", got "medium"'],
    [{ query: 'ab', q: 1 }, 'q: is not allowed; known: query, mode, files, target'],
    [{ query: 'ab', files: [{ name: 'x', size: 'big' }] }, 'files[0].size: expected integer or null, got string'],
    [{ query: 'ab', files: [{}] }, 'files[0].name: is required'],
    [{ query: 'ab', files: [1, 2, 3] }, 'files: expected at most 2 items, got 3\nfiles[0]: expected object, got number'],
    [
      { query: 'ab', target: { id: 'x' } },
      'target: matches none of the allowed forms (expected string, got object; id: expected integer, got string)',
    ],
    ['ab', 'arguments: expected object, got string'],
  ])('reports for %j: %s', (value, text) => {
    expect(complaint(schema, value).split('\n')).toEqual(expect.arrayContaining(text.split('\n')))
  })

  it('lists every issue in one report', () => {
    expect(complaint(schema, { mode: 1, extra: true }).split('\n')).toHaveLength(3)
  })

  it('limits the length of its report', () => {
    const text = complaint(
      { type: 'array', items: { const: 'x'.repeat(5000) } },
      Array.from({ length: 500 }, () => 'y'.repeat(5000)),
    )
    expect(text.split('\n')).toHaveLength(20)
    expect(text.length).toBeLessThan(20_000)
  })

  it('never throws, whatever the value', () => {
    const check = validator.compile(schema)
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true, withDate: true, withMap: true }), (value) => {
        formatIssues(check(value).issues ?? [])
      }),
    )
  })
})

describe('a pattern in a JSON Schema', () => {
  const nasty = '^(a+)+$'
  const text = `${'a'.repeat(40)}!`

  it.each([
    [{ properties: { x: { type: 'string', pattern: nasty } } }, { x: text }],
    [{ patternProperties: { [nasty]: { type: 'string' } }, additionalProperties: false }, { [text]: 1 }],
    [{ propertyNames: { pattern: nasty } }, { [text]: 1 }],
    [{ anyOf: [{ pattern: nasty }, { pattern: '^(b|b)*$' }] }, text],
    [{ items: { pattern: '^(?:a?){30}a{30}$' } }, [text]],
  ])('matches an expensive pattern without blocking: %j', (schema, value) => {
    expect(complaint(schema, value)).not.toBe('')
  })

  it.each(['email', 'uri', 'date-time', 'time', 'ipv6', 'uuid'])('checks the format %s of a long string without blocking', (format) => {
    for (const long of ['a@a.', '1:', ':', 'http://a%20', 'P1D', '2020-01-01T00:00:00.1', 'a-'])
      expect(complaint({ type: 'string', format }, `${long.repeat(200_000)} !`)).not.toBe('')
  })

  it('reports a value that is too large to match', () => {
    expect(complaint({ pattern: '(?:[ab]*c){20}d' }, 'abc'.repeat(200_000))).toContain('too large')
  })

  it.each([{ pattern: '(?=a)b' }, { patternProperties: { '(a)\\1': true } }, { items: { pattern: '(?<!x)y' } }])(
    'rejects at definition a pattern without a time bound: %j',
    (schema) => {
      expect(() => validator.compile(schema)).toThrow(/in bounded time/)
    },
  )
})

/** Few keywords at a time, chosen first: each may hold schemas again. */
function someOf(keywords: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<JsonSchema> {
  return fc.subarray(Object.entries(keywords), { maxLength: 4 }).chain((chosen) => fc.record(Object.fromEntries(chosen)))
}

describe('the interpreter compared with ajv', () => {
  const name = fc.constantFrom('a', 'b', 'ab', '__x')
  const value = fc.letrec<{ json: unknown }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(0, 1, 2, 1.5, 0.3, 'a', 'ab', 'b', '', true, null),
      fc.array(tie('json'), { maxLength: 3 }),
      fc.dictionary(name, tie('json'), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).json
  const { schema } = fc.letrec<{ schema: JsonSchema; node: JsonSchema | boolean }>((tie) => ({
    node: fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.boolean(), tie('schema')),
    schema: someOf({
      type: fc.constantFrom('string', 'number', 'integer', 'object', 'array', 'null'),
      const: value,
      enum: fc.array(value, { minLength: 1, maxLength: 3 }),
      allOf: fc.array(tie('node'), { minLength: 1, maxLength: 2 }),
      anyOf: fc.array(tie('node'), { minLength: 1, maxLength: 2 }),
      oneOf: fc.array(tie('node'), { minLength: 1, maxLength: 3 }),
      not: tie('node'),
      if: tie('schema'),
      // biome-ignore lint/suspicious/noThenProperty: JSON Schema calls it so
      then: tie('node'),
      else: tie('node'),
      properties: fc.dictionary(name, tie('node'), { maxKeys: 2, noNullPrototype: true }),
      patternProperties: fc.dictionary(fc.constantFrom('^a', 'b$', '(a|b)+'), tie('node'), { maxKeys: 2, noNullPrototype: true }),
      additionalProperties: tie('node'),
      unevaluatedProperties: tie('node'),
      propertyNames: tie('node'),
      dependentSchemas: fc.dictionary(name, tie('node'), { maxKeys: 1, noNullPrototype: true }),
      dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 1, noNullPrototype: true }),
      prefixItems: fc.array(tie('node'), { minLength: 1, maxLength: 2 }),
      items: tie('node'),
      unevaluatedItems: tie('node'),
      // Not `false`: for ajv an empty list contains that.
      contains: tie('schema'),
      minContains: fc.integer({ min: 0, max: 2 }),
      maxContains: fc.integer({ min: 0, max: 2 }),
      uniqueItems: fc.boolean(),
      multipleOf: fc.constantFrom(1, 2, 0.1),
      pattern: fc.constantFrom('^a', '(a|b)+$', 'b'),
      required: fc.uniqueArray(name, { maxLength: 2 }),
      minProperties: fc.integer({ min: 0, max: 2 }),
      maxItems: fc.integer({ min: 0, max: 2 }),
    }),
  }))

  it('accepts and rejects the same values as ajv', () => {
    const ajv = ajvValidator(Ajv2020)
    const verdicts = { accepted: 0, refused: 0 }
    fc.assert(
      fc.property(schema, value, (any, json) => {
        const own = interpreter.compile(any)(json).issues === undefined
        // One way in which ajv is no measure: its sums are those of binary fractions.
        fc.pre(!JSON.stringify(any).includes('"multipleOf":0.1'))
        expect(own, `${JSON.stringify(any)} on ${JSON.stringify(json)}`).toBe(ajv.compile(any)(json).issues === undefined)
        verdicts[own ? 'accepted' : 'refused'] += 1
      }),
      // Ajv has a few faults of its own (`if: false` alone, for one), which other seeds find.
      { numRuns: 300, seed: 7 },
    )
    expect(Math.min(verdicts.accepted, verdicts.refused)).toBeGreaterThan(50)
  })

  it('handles decimal fractions in multipleOf', () => {
    expect([0.3, 1e-7, 1e300, 0.35].map((each) => complaint({ multipleOf: 0.1 }, each) === '')).toEqual([true, false, true, false])
  })
})

describe('a hostile schema with bounded validation time', () => {
  const many = (count: number, part: JsonSchema) => Array.from({ length: count }, () => part)
  const doubling = (count: number, form: 'allOf' | 'anyOf'): JsonSchema => ({
    $defs: Object.fromEntries(
      many(count, {}).map((_, at) => [`d${at}`, { properties: { a: { maxLength: 9 } }, [form]: many(2, { $ref: `#/$defs/d${at + 1}` }) }]),
    ),
    $ref: '#/$defs/d0',
  })
  const endingIn = (schema: JsonSchema, count: number): JsonSchema => {
    Object.assign(Object(schema.$defs), { [`d${count}`]: { properties: { a: { type: 'number' } } } })
    return schema
  }

  it.each<[string, JsonSchema]>([
    ['exponentially growing references', endingIn(doubling(60, 'allOf'), 60)],
    ['exponentially growing alternatives', endingIn(doubling(60, 'anyOf'), 60)],
  ])('validates in bounded time: %s', (_, schema) => {
    let looks = 0
    const counted = new Proxy(
      { a: 'x' },
      {
        getOwnPropertyDescriptor(target, key) {
          looks += 1
          return Reflect.getOwnPropertyDescriptor(target, key)
        },
      },
    )
    expect(complaint(schema, counted)).toContain('too large')
    expect(looks).toBeLessThan(1_000_000)
  })

  it.each<[string, JsonSchema, unknown]>([
    ['a long list with repeated uniqueItems checks', { allOf: many(500, { uniqueItems: true }) }, many(20_000, {}).map((_, at) => at)],
    ['many items with many schemas', { allOf: many(500, { items: { type: 'number' } }) }, many(20_000, {}).map((_, at) => at)],
    ['a long string with repeated length checks', { allOf: many(500, { minLength: 3 }) }, 'x'.repeat(100_000)],
    ['numbers of hundreds of digits', { items: { allOf: [{ multipleOf: 5e-324 }] } }, many(20_000, {}).map(() => 1e308)],
  ])('rejects a value that takes too long: %s', (_, schema, value) => {
    expect(complaint(schema, value)).toContain('too large')
  })

  it('validates a large but ordinary value', () => {
    const rows = many(20_000, {}).map((_, at) => ({ at, name: `row ${at}`, tags: ['a', 'b'] }))
    const row = { type: 'object', properties: { name: { pattern: '^row' }, tags: { uniqueItems: true } }, required: ['at'] }
    expect(complaint({ type: 'array', items: row }, rows)).toBe('')
  })
})
