import type { JsonSchema } from '../../src/contract/json.ts'

/** A case in the validator suite: values that a schema accepts, and values that it rejects with the path to the first issue. */
export interface SchemaCase {
  name: string
  schema: JsonSchema
  /** JSON texts, so that keys such as `__proto__` are own properties. */
  accepts: readonly string[]
  /** JSON text, and the path to an issue that it must produce, joined with `/`. */
  refuses: readonly (readonly [json: string, path: string])[]
}

const object = (properties: JsonSchema, rest: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...rest })

const ownKeys = (json: string): JsonSchema => JSON.parse(json) as JsonSchema

const objects: SchemaCase[] = [
  { name: 'properties', schema: object({ a: { type: 'string' } }), accepts: ['{}', '{"a":"x","b":1}'], refuses: [['{"a":1}', 'a']] },
  {
    name: 'nested paths',
    schema: object({ a: { type: 'array', items: object({ b: { type: 'number' } }) } }),
    accepts: ['{"a":[{"b":1}]}'],
    refuses: [['{"a":[{"b":1},{"b":"x"}]}', 'a/1/b']],
  },
  {
    name: 'keys that need escaping',
    schema: object({ 'a/b~c %#"é': { type: 'string' } }),
    accepts: [],
    refuses: [['{"a/b~c %#\\"é":1}', 'a/b~c %#"é']],
  },
  {
    name: 'required',
    schema: object({}, { required: ['a', 'b'] }),
    accepts: ['{"a":null,"b":1}'],
    refuses: [
      ['{"a":1}', 'b'],
      ['{"b":1}', 'a'],
    ],
  },
  {
    name: 'additionalProperties: false',
    schema: object({ a: {} }, { additionalProperties: false }),
    accepts: ['{"a":1}'],
    refuses: [['{"a":1,"b":2}', 'b']],
  },
  {
    name: 'additionalProperties with a schema',
    schema: object({ a: {} }, { additionalProperties: { type: 'number' } }),
    accepts: ['{"a":"x","b":2}'],
    refuses: [['{"b":"x"}', 'b']],
  },
  {
    name: 'patternProperties',
    schema: { patternProperties: { '^n_': { type: 'number' } }, additionalProperties: false },
    accepts: ['{"n_a":1}'],
    refuses: [
      ['{"n_a":"x"}', 'n_a'],
      ['{"m":1}', 'm'],
    ],
  },
  { name: 'propertyNames', schema: { propertyNames: { maxLength: 2 } }, accepts: ['{"ab":1}'], refuses: [['{"abc":1}', '']] },
  {
    name: 'minProperties and maxProperties',
    schema: { minProperties: 1, maxProperties: 2 },
    accepts: ['{"a":1}'],
    refuses: [
      ['{}', ''],
      ['{"a":1,"b":1,"c":1}', ''],
    ],
  },
  { name: 'dependentRequired', schema: { dependentRequired: { a: ['b'] } }, accepts: ['{}', '{"a":1,"b":1}'], refuses: [['{"a":1}', '']] },
  {
    name: 'dependentSchemas',
    schema: { dependentSchemas: { a: object({ b: { type: 'string' } }) } },
    accepts: ['{"b":1}'],
    refuses: [['{"a":1,"b":1}', 'b']],
  },
  {
    name: 'unevaluatedProperties',
    schema: { allOf: [object({ a: {} })], properties: { b: {} }, unevaluatedProperties: false },
    accepts: ['{"a":1,"b":1}'],
    refuses: [['{"c":1}', 'c']],
  },
]

const arrays: SchemaCase[] = [
  { name: 'items', schema: { items: { type: 'number' } }, accepts: ['[]', '[1,2]'], refuses: [['[1,"x"]', '1']] },
  {
    name: 'prefixItems and items',
    schema: { prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
    accepts: ['["a",1]', '["a"]'],
    refuses: [
      ['[1]', '0'],
      ['["a","b"]', '1'],
    ],
  },
  {
    name: 'minItems and maxItems',
    schema: { minItems: 1, maxItems: 2 },
    accepts: ['[1]'],
    refuses: [
      ['[]', ''],
      ['[1,2,3]', ''],
    ],
  },
  {
    name: 'uniqueItems',
    schema: { uniqueItems: true },
    accepts: ['[1,"1",true]', '[{"a":1},{"a":2}]'],
    refuses: [
      ['[1,2,1]', ''],
      ['[{"a":1,"b":2},{"b":2,"a":1}]', ''],
    ],
  },
  {
    name: 'contains with minContains and maxContains',
    schema: { contains: { type: 'number' }, minContains: 1, maxContains: 2 },
    accepts: ['["a",1]'],
    refuses: [
      ['["a"]', ''],
      ['[1,2,3]', ''],
    ],
  },
]

const combinations: SchemaCase[] = [
  {
    name: 'anyOf',
    schema: object({ v: { anyOf: [{ type: 'string' }, { minimum: 5, type: 'number' }] } }),
    accepts: ['{"v":"a"}', '{"v":6}'],
    refuses: [
      ['{"v":4}', 'v'],
      ['{"v":null}', 'v'],
    ],
  },
  {
    name: 'oneOf',
    schema: { oneOf: [{ minimum: 5 }, { multipleOf: 2 }] },
    accepts: ['7', '2'],
    refuses: [
      ['6', ''],
      ['3', ''],
    ],
  },
  {
    name: 'allOf',
    schema: { allOf: [object({ a: { type: 'string' } }), { required: ['a'] }] },
    accepts: ['{"a":"x"}'],
    refuses: [
      ['{}', 'a'],
      ['{"a":1}', 'a'],
    ],
  },
  { name: 'not', schema: object({ a: { not: { type: 'string' } } }), accepts: ['{"a":1}'], refuses: [['{"a":"x"}', 'a']] },
  {
    name: 'if, then, else',
    // Written as text, because the linter takes a literal with `then` for a promise.
    schema: ownKeys(
      '{"if":{"type":"object","properties":{"k":{"const":"n"}},"required":["k"]},' +
        '"then":{"properties":{"v":{"type":"number"}}},"else":{"properties":{"v":{"type":"string"}}}}',
    ),
    accepts: ['{"k":"n","v":1}', '{"v":"x"}'],
    refuses: [
      ['{"k":"n","v":"x"}', 'v'],
      ['{"v":1}', 'v'],
    ],
  },
  { name: 'boolean subschemas', schema: object({ yes: true, no: false }), accepts: ['{"yes":1}'], refuses: [['{"no":1}', 'no']] },
  {
    name: '$defs and $ref, with keywords beside the reference',
    schema: { ...object({ a: { $ref: '#/$defs/name', minLength: 2 } }), $defs: { name: { type: 'string' } } },
    accepts: ['{"a":"ab"}'],
    refuses: [
      ['{"a":1}', 'a'],
      ['{"a":"b"}', 'a'],
    ],
  },
  {
    name: 'definitions of older drafts',
    schema: { ...object({ a: { $ref: '#/definitions/name' } }), definitions: { name: { type: 'string' } } },
    accepts: ['{"a":"b"}'],
    refuses: [['{"a":1}', 'a']],
  },
  {
    name: 'recursive $ref',
    schema: object({ children: { type: 'array', items: { $ref: '#' } } }, { additionalProperties: false }),
    accepts: ['{"children":[{"children":[{}]}]}'],
    refuses: [['{"children":[{"children":[{"x":1}]}]}', 'children/0/children/0/x']],
  },
]

const prototypeKeys: SchemaCase[] = [
  {
    name: 'required names are own properties',
    schema: { required: ['constructor'] },
    accepts: ['{"constructor":1}'],
    refuses: [['{}', 'constructor']],
  },
  {
    name: 'properties named like members of objects',
    schema: object({ constructor: { type: 'string' }, toString: { type: 'number' } }),
    accepts: ['{}', '{"toString":1}'],
    refuses: [['{"constructor":1}', 'constructor']],
  },
  {
    name: '__proto__ is an ordinary unknown key',
    schema: object({ a: {} }, { additionalProperties: false }),
    accepts: [],
    refuses: [['{"__proto__":{"a":1}}', '__proto__']],
  },
  {
    name: 'required __proto__',
    schema: ownKeys('{"required":["__proto__"]}'),
    accepts: ['{"__proto__":1}'],
    refuses: [['{}', '__proto__']],
  },
]

/** Cases for objects, arrays, combinations and references. */
export const structureCases: readonly SchemaCase[] = [...objects, ...arrays, ...combinations, ...prototypeKeys]
