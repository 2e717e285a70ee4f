import { PhiError } from '../../src/contract/errors.ts'
import type { JsonSchema } from '../../src/contract/json.ts'
import type { SchemaIssue, SchemaValidator } from '../../src/types/standard-schema.ts'
import type { TestRunner } from '../test-runner.ts'
import { refusedSchemas, schemaCases } from './schema-validator-cases.ts'

/** Options for `schemaValidatorSuite`: the validator to test. */
export interface SchemaValidatorSuiteOptions {
  /** Name in the test report. */
  name: string
  create: () => SchemaValidator
}

/**
 * Tests the `SchemaValidator` contract: accepted and rejected values, issue paths, and unsupported schemas.
 *
 * Source: docs/guides/testing.md
 */
export function schemaValidatorSuite(runner: TestRunner, options: SchemaValidatorSuiteOptions): void {
  runner.describe(`SchemaValidator: ${options.name}`, () => {
    table(runner, options)
    refusals(runner, options)
    robustness(runner, options)
  })
}

function pathOf(issue: SchemaIssue): string {
  return (issue.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('/')
}

function table({ it, expect }: TestRunner, { create }: SchemaValidatorSuiteOptions): void {
  for (const { name, schema, accepts, refuses } of schemaCases) {
    it(`enforces ${name}`, () => {
      const check = create().compile(schema)
      for (const json of accepts) {
        const value: unknown = JSON.parse(json)
        expect(check(value)).toEqual({ value })
        expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(json)))
      }
      for (const [json, path] of refuses) {
        const { issues } = check(JSON.parse(json))
        const paths = issues?.map(pathOf) ?? []
        expect(paths.includes(path) ? path : `${json} gave ${JSON.stringify(paths)}`).toBe(path)
      }
    })
  }

  it('describes the expected value in its issues', () => {
    const check = create().compile({ type: 'object', properties: { query: { type: 'string' }, mode: { enum: ['fast', 'slow'] } } })
    const messages = (check({ query: 5, mode: 'x' }).issues ?? []).map((issue) => issue.message).join('\n')
    for (const word of ['string', 'fast', 'slow']) expect(messages.includes(word)).toBe(true)
  })
}

/** Returns the error of `compile` for `schema`, or `undefined` if it accepts the schema. */
function refusal(validator: SchemaValidator, schema: JsonSchema): unknown {
  try {
    validator.compile(schema)
  } catch (error) {
    return error
  }
}

function refusals({ it, expect }: TestRunner, { create }: SchemaValidatorSuiteOptions): void {
  for (const [name, schema, pointer] of refusedSchemas) {
    it(`rejects ${name} on compile`, () => {
      const thrown = refusal(create(), schema)
      expect(PhiError.isInstance(thrown) ? thrown.code : thrown).toBe('unsupportedSchema')
      expect(String(thrown).includes(pointer)).toBe(true)
    })
  }

  it('accepts annotations and x- keywords', () => {
    const annotations = {
      title: 't',
      description: 'd',
      default: 1,
      examples: [],
      deprecated: true,
      readOnly: true,
      $comment: 'c',
      'x-order': 1,
    }
    const check = create().compile({ $schema: 'http://json-schema.org/draft-07/schema#', $id: 'urn:tool', ...annotations, type: 'number' })
    expect(check(1).issues).toBe(undefined)
    expect(check('1').issues === undefined).toBe(false)
  })

  it('rejects a schema object that contains itself', () => {
    const schema: { [keyword: string]: unknown } = { type: 'object' }
    schema.properties = { self: schema }
    const thrown = refusal(create(), schema)
    expect(PhiError.isInstance(thrown) ? thrown.code : thrown).toBe('unsupportedSchema')
  })
}

function robustness({ it, expect }: TestRunner, { create }: SchemaValidatorSuiteOptions): void {
  it('accepts frozen schemas and does not modify schemas', () => {
    const schema = Object.freeze({ type: 'object', properties: Object.freeze({ a: Object.freeze({ type: 'string' }) }) })
    const before = JSON.stringify(schema)
    expect(create().compile(schema)({ a: 1 }).issues?.length).toBe(1)
    expect(JSON.stringify(schema)).toBe(before)
    expect(Reflect.ownKeys(schema)).toEqual(['type', 'properties'])
  })

  it('compiles the same schema, and the same $id, twice', () => {
    const validator = create()
    const schema = { $id: 'urn:same', type: 'string' }
    validator.compile(schema)
    expect(validator.compile(schema)('a').issues).toBe(undefined)
    expect(validator.compile({ $id: 'urn:same', type: 'number' })(1).issues).toBe(undefined)
  })

  it('reports issues for deeply nested values instead of throwing', () => {
    const check = create().compile({ type: 'object', properties: { next: { $ref: '#' } } })
    let value: unknown = 'end'
    for (let depth = 0; depth < 100_000; depth++) value = { next: value }
    expect(check(value).issues === undefined).toBe(false)
  })

  it('reports issues for endless references instead of throwing', () => {
    const check = create().compile({ $defs: { a: { allOf: [{ $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' })
    expect(check(1).issues === undefined).toBe(false)
  })

  it('reports issues for long arrays of invalid items', () => {
    const check = create().compile({ type: 'array', items: { type: 'string' } })
    expect(check(Array.from({ length: 150_000 }, () => 0)).issues === undefined).toBe(false)
  })

  it('does not modify prototypes', () => {
    const check = create().compile({ type: 'object', additionalProperties: { type: 'object' } })
    check(JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}'))
    expect(Reflect.get({}, 'polluted')).toBe(undefined)
  })
}
