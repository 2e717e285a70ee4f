import type { JsonSchema } from '../../src/contract/json.ts'
import { type SchemaCase, structureCases } from './schema-structure-cases.ts'

const object = (properties: JsonSchema, rest: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...rest })

const types: SchemaCase[] = [
  {
    name: 'string',
    schema: { type: 'string' },
    accepts: ['""', '"a"'],
    refuses: [
      ['1', ''],
      ['null', ''],
      ['["a"]', ''],
    ],
  },
  {
    name: 'number',
    schema: { type: 'number' },
    accepts: ['0', '-1.5e3'],
    refuses: [
      ['"1"', ''],
      ['true', ''],
    ],
  },
  {
    name: 'integer',
    schema: { type: 'integer' },
    accepts: ['3', '3.0', '-7'],
    refuses: [
      ['3.5', ''],
      ['"3"', ''],
    ],
  },
  {
    name: 'boolean',
    schema: { type: 'boolean' },
    accepts: ['true', 'false'],
    refuses: [
      ['0', ''],
      ['"true"', ''],
    ],
  },
  {
    name: 'null',
    schema: { type: 'null' },
    accepts: ['null'],
    refuses: [
      ['0', ''],
      ['{}', ''],
    ],
  },
  {
    name: 'array',
    schema: { type: 'array' },
    accepts: ['[]', '[1,"a"]'],
    refuses: [
      ['{}', ''],
      ['null', ''],
    ],
  },
  {
    name: 'object',
    schema: { type: 'object' },
    accepts: ['{}'],
    refuses: [
      ['[]', ''],
      ['null', ''],
    ],
  },
  { name: 'several types', schema: { type: ['string', 'null'] }, accepts: ['"a"', 'null'], refuses: [['1', '']] },
  { name: 'the empty schema', schema: {}, accepts: ['1', 'null', '{"a":[]}'], refuses: [] },
]

const values: SchemaCase[] = [
  {
    name: 'enum',
    schema: { enum: ['a', 1, null, { b: [1] }] },
    accepts: ['"a"', '1', 'null', '{"b":[1]}'],
    refuses: [
      ['"b"', ''],
      ['{"b":[2]}', ''],
    ],
  },
  {
    name: 'const',
    schema: { const: { a: 1 } },
    accepts: ['{"a":1}'],
    refuses: [
      ['{"a":2}', ''],
      ['1', ''],
    ],
  },
  {
    name: 'inclusive bounds',
    schema: { minimum: 1, maximum: 3 },
    accepts: ['1', '3', '"text"'],
    refuses: [
      ['0.9', ''],
      ['3.1', ''],
    ],
  },
  {
    name: 'exclusive bounds',
    schema: { exclusiveMinimum: 1, exclusiveMaximum: 3 },
    accepts: ['2'],
    refuses: [
      ['1', ''],
      ['3', ''],
    ],
  },
  { name: 'multipleOf', schema: { multipleOf: 5 }, accepts: ['0', '-15'], refuses: [['7', '']] },
  {
    name: 'lengths in characters, not code units',
    schema: { minLength: 2, maxLength: 2 },
    accepts: ['"ab"', '"🙂é"'],
    refuses: [
      ['"🙂"', ''],
      ['"abc"', ''],
    ],
  },
  { name: 'pattern, unanchored', schema: { pattern: 'b+$' }, accepts: ['"abb"', '1'], refuses: [['"ba"', '']] },
  { name: 'pattern with unicode classes', schema: { pattern: '^\\p{L}+$' }, accepts: ['"日本"'], refuses: [['"a1"', '']] },
  { name: 'unknown formats are annotations', schema: { format: 'int32' }, accepts: ['"x"', '5000000000'], refuses: [] },
]

const formats: SchemaCase[] = [
  {
    name: 'date-time',
    schema: { format: 'date-time' },
    accepts: ['"2026-02-28T23:59:59Z"', '"2026-01-01T00:00:00.5+02:00"'],
    refuses: [
      ['"2026-02-30T00:00:00Z"', ''],
      ['"2026-01-01"', ''],
    ],
  },
  {
    name: 'date',
    schema: { format: 'date' },
    accepts: ['"2024-02-29"'],
    refuses: [
      ['"2023-02-29"', ''],
      ['"24-1-1"', ''],
    ],
  },
  {
    name: 'time',
    schema: { format: 'time' },
    accepts: ['"12:30:00Z"', '"00:00:00+01:00"'],
    refuses: [
      ['"25:00:00Z"', ''],
      ['"12:30:00"', ''],
    ],
  },
  {
    name: 'email',
    schema: { format: 'email' },
    accepts: ['"a.b+c@example.com"'],
    refuses: [
      ['"a"', ''],
      ['"a@"', ''],
      ['".a@b.c"', ''],
    ],
  },
  {
    name: 'uri',
    schema: { format: 'uri' },
    accepts: ['"https://example.com/a?b=c#d"', '"urn:x:y"'],
    refuses: [
      ['"/relative"', ''],
      ['"http://a b"', ''],
    ],
  },
  { name: 'uuid', schema: { format: 'uuid' }, accepts: ['"123e4567-e89b-12d3-a456-426614174000"'], refuses: [['"123e4567"', '']] },
  {
    name: 'ipv4',
    schema: { format: 'ipv4' },
    accepts: ['"127.0.0.1"'],
    refuses: [
      ['"256.0.0.1"', ''],
      ['"1.2.3"', ''],
    ],
  },
  {
    name: 'ipv6',
    schema: { format: 'ipv6' },
    accepts: ['"::1"', '"2001:db8::ff00:42:8329"'],
    refuses: [
      ['"12345::"', ''],
      ['"1::2::3"', ''],
    ],
  },
]

/** The cases in `schemaValidatorSuite`. */
export const schemaCases: readonly SchemaCase[] = [...types, ...values, ...formats, ...structureCases]

/** Schemas that no validator may accept, with the JSON Pointer that its error contains. */
export const refusedSchemas: readonly (readonly [name: string, schema: JsonSchema, pointer: string])[] = [
  ['an unknown keyword', object({ a: { type: 'string', startsWith: 'x' } }), '#/properties/a/startsWith'],
  ['an unknown type', object({ a: { type: 'text' } }), '#/properties/a/type'],
  ['a malformed keyword', { required: 'a' }, '#/required'],
  ['a broken pattern', object({ a: { pattern: '(' } }), '#/properties/a/pattern'],
  ['a boolean exclusiveMinimum (draft 4)', { exclusiveMinimum: true }, '#/exclusiveMinimum'],
  ['a list under items (before 2020-12)', { items: [{ type: 'string' }] }, '#/items'],
  ['an external reference', object({ a: { $ref: 'https://example.com/schema.json' } }), '#/properties/a/$ref'],
  ['a reference to nothing', object({ a: { $ref: '#/$defs/missing' } }), '#/properties/a/$ref'],
  ['a reference to what is not a schema', object({ a: { $ref: '#/properties' } }), '#/properties/a/$ref'],
  ['references that lead in a circle', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }, '#/$ref'],
  ['a dynamic reference', { $dynamicRef: '#node' }, '#/$dynamicRef'],
  ['an unknown keyword below a combination', { anyOf: [{}, { nullable: true }] }, '#/anyOf/1/nullable'],
]
