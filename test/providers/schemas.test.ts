import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isObject, type JsonSchema, type JsonValue } from '../../src/contract/json.ts'
import { type Dialect, dialects } from '../../src/providers/kit/optional/schema/dialects.ts'
import { runs } from '../support/runs.ts'
import { plainRequest } from './model-call.ts'
import { fits, formatSent, toolSent, type Wire, wires } from './schema-wires.ts'

const held = ['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas']

/** What of a schema that was sent does not stand in its row. */
function outside(schema: unknown, rules: Dialect, isRoot = true): string[] {
  if (Array.isArray(schema)) return schema.flatMap((each) => outside(each, rules, false))
  if (!isObject(schema)) return []
  const { keywords, without, rootKeywords, formats, enums, propertyNames: names, objects, hasObjectRoot } = rules
  const faults: string[] = []
  const taken = (isRoot && rootKeywords) || keywords
  for (const [keyword, value] of Object.entries(schema)) {
    if (taken ? !taken.has(keyword) : without?.has(keyword)) faults.push(`keyword ${keyword}`)
    if (keyword === 'format' && formats !== undefined && !formats.has(String(value))) faults.push(`format ${value}`)
    if (keyword === 'enum' && enums && !(value as unknown[]).every((each) => enums.has(each === null ? 'null' : typeof each)))
      faults.push('enum')
    if (keyword === 'pattern' && rules.hasPlainPatterns && /\(\?/.test(String(value))) faults.push('pattern')
    if (['enum', 'const', 'default', 'required'].includes(keyword)) continue
    if (held.includes(keyword)) faults.push(...Object.values(value as object).flatMap((each) => outside(each, rules, false)))
    else faults.push(...outside(value, rules, false))
  }
  const { type, properties, additionalProperties, required = [], items, minItems } = schema
  if (isRoot && hasObjectRoot && (type !== 'object' || !isObject(properties))) faults.push('root')
  if (isRoot && hasObjectRoot && ['anyOf', 'oneOf', 'allOf', 'not', 'enum', '$ref'].some((word) => word in schema))
    faults.push('union at the root')
  if (names && isObject(properties) && !Object.keys(properties).every((name) => names.test(name))) faults.push('name')
  if (objects && type === 'object' && additionalProperties !== false) faults.push('open object')
  if (objects === 'complete' && isObject(properties) && Object.keys(properties).some((name) => !(required as string[]).includes(name)))
    faults.push('optional')
  if (rules.isReferenceAlone && '$ref' in schema && Object.keys(schema).some((word) => !word.startsWith('$'))) faults.push('beside $ref')
  if (rules.namesItems && type === 'array' && items === undefined) faults.push('no items')
  if (rules.hasSingleTypes && Array.isArray(type)) faults.push('types')
  if (rules.maxMinItems !== undefined && Number(minItems ?? 0) > rules.maxMinItems) faults.push('minItems')
  return faults
}

/** A schema, a value that fits it, and what it refers to. */
interface Sample {
  schema: JsonSchema
  value: JsonValue
}

const names = ['kind', 'city', 'amount', 'list', 'note'] as const

/** Schemas in all words that tools use, each with a value that fits. `isWhole`: no property is optional, no object is open. */
function anySample(isWhole: boolean): fc.Arbitrary<Sample> {
  const { value } = fc.letrec<{ value: Sample; object: Sample }>((tie) => {
    const leaf = fc.constantFrom<Sample>(
      { schema: { type: 'string', minLength: 1, maxLength: 9, pattern: '^[a-z]+$', description: 'A word.' }, value: 'abc' },
      { schema: { type: 'string', pattern: '^(?!x)a' }, value: 'ab' },
      { schema: { type: 'string', format: 'uri-reference' }, value: '/a' },
      { schema: { type: 'string', format: 'date' }, value: '2026-01-02' },
      { schema: { type: 'integer', minimum: 0, maximum: 10, multipleOf: 2 }, value: 4 },
      { schema: { type: 'number', exclusiveMinimum: 0, default: 1 }, value: 0.5 },
      { schema: { type: 'boolean', examples: [true] }, value: true },
      { schema: { type: 'null' }, value: null },
      { schema: { const: 'only' }, value: 'only' },
      { schema: { const: 7 }, value: 7 },
      { schema: { enum: ['a', 'b'] }, value: 'b' },
      { schema: { type: 'string', enum: ['a', 'b'] }, value: 'a' },
      { schema: { type: ['string', 'null'], enum: ['a', null] }, value: null },
      { schema: { type: ['integer', 'string'] }, value: 'x' },
      { schema: { type: 'string', nullable: true }, value: 'x' },
      { schema: { $ref: '#/$defs/point', description: 'Where.' }, value: { x: 1 } },
      { schema: { $ref: '#/definitions/word' }, value: 'w' },
    )
    const list = fc.tuple(tie('value'), fc.boolean()).map(([{ schema, value }, isUnique]) => ({
      schema: { type: 'array', items: schema, minItems: 1, maxItems: 3, ...(isUnique && { uniqueItems: true }) },
      value: [value],
    }))
    const tuple = fc
      .array(tie('value'), { minLength: 1, maxLength: 3 })
      .map((each) => ({ schema: { type: 'array', prefixItems: each.map(({ schema }) => schema) }, value: each.map(({ value }) => value) }))
    const union = fc
      .tuple(fc.array(tie('value'), { minLength: 1, maxLength: 2 }), tie('value'))
      .map(([others, own]) => ({ schema: { anyOf: [...others, own].map(({ schema }) => schema) }, value: own.value }))
    const both = fc
      .tuple(objectOf(tie('value'), isWhole, ['kind', 'city']), objectOf(tie('value'), isWhole, ['amount']))
      .map(([one, other]) => ({
        schema: { allOf: [one.schema, other.schema].map(({ additionalProperties: _, ...schema }) => schema) },
        value: { ...Object(one.value), ...Object(other.value) },
      }))
    const beside = both.map(({ schema, value }) => {
      const [own, ...anyOf] = schema.allOf
      return { schema: { ...own, anyOf }, value }
    })
    return {
      object: objectOf(tie('value'), isWhole),
      value: fc.oneof({ maxDepth: 3, depthSize: 'small' }, leaf, tie('object'), list, tuple, union, both, beside),
    }
  })
  return value
}

function objectOf(
  value: fc.Arbitrary<Sample>,
  isWhole: boolean,
  among: readonly string[] = [...names, ...(isWhole ? [] : ['$filter', 'é'])],
): fc.Arbitrary<Sample> {
  const property = fc.record({ sample: value, isRequired: isWhole ? fc.constant(true) : fc.boolean(), isGiven: fc.boolean() })
  return fc.dictionary(fc.constantFrom(...among), property, { minKeys: 1, maxKeys: 3 }).map((given) => {
    const each = Object.entries(given)
    const shown = each.filter(([, { isRequired, isGiven }]) => isRequired || isGiven)
    return {
      schema: {
        type: 'object',
        properties: Object.fromEntries(each.map(([name, { sample }]) => [name, sample.schema])),
        required: each.filter(([, { isRequired }]) => isRequired).map(([name]) => name),
        ...(isWhole && { additionalProperties: false }),
      },
      value: Object.fromEntries(shown.map(([name, { sample }]) => [name, sample.value])),
    }
  })
}

const $defs = { point: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'], additionalProperties: false } }
const definitions = { word: { type: 'string', minLength: 1 } }

const withDefinitions = (schema: JsonSchema): JsonSchema => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  ...schema,
  $defs,
  definitions,
})

/** Schemas of arguments: an object, or one of several. */
function anyArguments(isWhole: boolean): fc.Arbitrary<Sample> {
  const object = objectOf(anySample(isWhole), isWhole)
  const union = fc
    .tuple(fc.constantFrom('anyOf', 'oneOf'), fc.array(object, { minLength: 1, maxLength: 3 }), object)
    .map(([word, others, own]) => ({
      schema: { type: 'object', [word]: [...others, own].map(({ schema }) => schema) },
      value: own.value,
    }))
  const root = fc.oneof(object, union).map(({ schema, value }) => ({ schema: withDefinitions(schema), value }))
  return root.filter(({ schema, value }) => fits(schema, value))
}

describe.each(Object.entries(wires))('%s', (_, wire) => {
  it('sends only supported keywords in tools, and accepts every valid call', async () => {
    await fc.assert(
      fc.asyncProperty(anyArguments(false), async ({ schema, value }) => {
        const { schema: sent } = await toolSent(wire, schema)
        expect(outside(sent, dialects[wire.tools])).toEqual([])
        expect(fits(sent, value)).toBe(true)
      }),
      { numRuns: runs(5, 500) },
    )
  })

  it('sends only supported keywords in output schemas, without new constraints', async () => {
    await fc.assert(
      fc.asyncProperty(anyArguments(true), async ({ schema, value }) => {
        const { schema: sent } = await formatSent(wire, schema)
        if (Object.keys(sent).length === 0) return
        expect(outside(sent, dialects[wire.format])).toEqual([])
        // Variants of a union become one object: strictly, null stands for what a variant has not.
        const absent = wire.strict ? Object.keys(Object(sent.properties)).map((name) => [name, null]) : []
        expect(fits(sent, { ...Object.fromEntries(absent), ...Object(value) })).toBe(true)
      }),
      { numRuns: runs(5, 500) },
    )
  })

  it('sends a plain schema with an enum unchanged', async () => {
    const kind = { type: 'string', enum: ['a', 'b'] }
    const parameters = { type: 'object', properties: { kind }, required: ['kind'], additionalProperties: false }
    const { schema, warnings } = await toolSent(wire, parameters)
    expect(schema).toMatchObject({ properties: { kind }, required: ['kind'] })
    expect(warnings).toEqual([])
  })

  it('accepts calls of every union variant', async () => {
    const variant = (kind: string, name: string): JsonSchema => ({
      type: 'object',
      properties: { kind: { const: kind }, [name]: { type: 'string' } },
      required: ['kind', name],
      additionalProperties: false,
    })
    const root = {
      oneOf: [variant('a', 'path'), { $ref: '#/$defs/b' }, { allOf: [variant('c', 'url')] }],
      $defs: { b: variant('b', 'query') },
    }
    const { schema, warnings } = await toolSent(wire, root)
    for (const value of [
      { kind: 'a', path: 'x' },
      { kind: 'b', query: 'x' },
      { kind: 'c', url: 'x' },
    ])
      expect(fits(schema, value)).toBe(true)
    expect(JSON.stringify(schema)).toContain('kind')
    if (dialects[wire.tools] !== dialects.gemini) {
      expect(schema.required).toEqual(['kind'])
      expect(warnings).toEqual([expect.stringMatching(/^tool pick is sent without .*oneOf of its root.*still validated/)])
    }
  })
})

it('merges references of a hostile schema in bounded time', async () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`d${at}`, { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] }]),
  )
  const parameters = { allOf: [{ $ref: '#/$defs/d0' }], properties: { a: { $ref: '#/$defs/d0' } }, $defs }
  for (const wire of Object.values(wires)) expect(await toolSent(wire, parameters)).toBeDefined()
})

it.each(['chat', 'responses', 'azure'])('rejects more than 128 tools on OpenAI (%s)', async (name) => {
  const { model } = wires[name] as Wire
  const tools = Array.from({ length: 129 }, (_, at) => ({ name: `t${at}`, description: 'A tool.', parameters: { type: 'object' } }))
  const encoding = model.provider.encode(plainRequest(model.config, { tools }))
  await expect(encoding).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('at most 128 tools, but gpt-5.2 has 129'),
  })
  expect(await model.provider.encode(plainRequest(model.config, { tools: tools.slice(1) }))).toBeDefined()
})

describe('the schema of unevaluated items', () => {
  it.each(Object.entries(wires))('converts unevaluatedItems like every nested schema: %s', async (_, wire) => {
    const item = { type: 'object', propertyNames: { minLength: 1 }, properties: { a: { $ref: '#/$defs/a' } } }
    const list = { type: 'array', unevaluatedItems: item, 'x-phi': true }
    const parameters = { type: 'object', properties: { list }, $defs: { a: { type: 'string', pattern: '^(?=a)' } } }
    const { schema } = await toolSent(wire, parameters)
    expect(outside(schema, dialects[wire.tools])).toEqual([])
  })
})
