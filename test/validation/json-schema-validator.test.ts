import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../src/contract/json.ts'
import { schemaValidatorSuite } from '../../src/testing/schema/schema-validator-suite.ts'
import type { SchemaValidator } from '../../src/types/standard-schema.ts'
import { enforceableSchema } from '../../src/validation/enforceable-schema.ts'
import { formatIssues, resultOf } from '../../src/validation/format-issues.ts'
import { jsonSchemaValidator } from '../../src/validation/json-schema-validator.ts'
import { interpret } from '../../src/validation/schema-interpreter.ts'

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
  ])('says about %j: %s', (value, text) => {
    expect(complaint(schema, value).split('\n')).toEqual(expect.arrayContaining(text.split('\n')))
  })

  it('lists every problem at once', () => {
    expect(complaint(schema, { mode: 1, extra: true }).split('\n')).toHaveLength(3)
  })

  it('limits how much it says', () => {
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
