import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fieldIn, isObject, type JsonObject, type JsonSchema, type JsonValue } from '../../src/contract/json.ts'
import { anthropic } from '../../src/providers/anthropic/index.ts'
import { azure } from '../../src/providers/azure/index.ts'
import { bedrock } from '../../src/providers/bedrock/index.ts'
import { google } from '../../src/providers/google/index.ts'
import { type Dialect, dialects } from '../../src/providers/kit/schema/fitting/dialects.ts'
import { openaiCompatible } from '../../src/providers/openai/compatible.ts'
import { openai } from '../../src/providers/openai.ts'
import { openaiResponses } from '../../src/providers/openai-responses/index.ts'
import { vertex } from '../../src/providers/vertex/index.ts'
import type { Model } from '../../src/types/model/model.ts'
import { runs } from '../support/runs.ts'
import { plainRequest } from './model-call.ts'

/** A wire: a model of it, where the schema of its first tool and of its answer stand, and the rows of the table that say what it takes. */
interface Wire {
  model: Model
  tools: keyof typeof dialects
  format: keyof typeof dialects
  toolAt: string
  /** Absent: it is held to none. */
  formatAt?: string
  strict?: boolean
}

const claude = { tools: 'claudeTools', format: 'claudeFormat' } as const
const inChat = { toolAt: 'tools.0.function.parameters', formatAt: 'response_format.json_schema.schema' }
const inResponses = { toolAt: 'tools.0.parameters', formatAt: 'text.format.schema' }
const inGemini = {
  toolAt: 'tools.0.functionDeclarations.0.parametersJsonSchema',
  formatAt: 'generationConfig.responseJsonSchema',
}
const inBedrock = {
  toolAt: 'toolConfig.tools.0.toolSpec.inputSchema.json',
  formatAt: 'outputConfig.textFormat.structure.jsonSchema.schema',
}
const openAi = { tools: 'openAiTools', format: 'openAiFormat' } as const
const strict = { tools: 'openAiTools', format: 'openAiStrict', strict: true } as const
const wires: Record<string, Wire> = {
  anthropic: {
    ...claude,
    model: anthropic('claude-opus-4-6'),
    toolAt: 'tools.0.input_schema',
    formatAt: 'output_config.format.schema',
  },
  'bedrock, Claude': {
    ...claude,
    format: 'bedrockFormat',
    model: bedrock('us.anthropic.claude-opus-4-6-v1:0', { region: 'us-east-1' }),
    ...inBedrock,
  },
  'bedrock, Nova': {
    tools: 'novaTools',
    format: 'bedrockFormat',
    model: bedrock('us.amazon.nova-2-lite-v1:0', { region: 'us-east-1' }),
    toolAt: inBedrock.toolAt,
  },
  chat: { ...openAi, model: openai('gpt-5.2'), ...inChat },
  'chat, strict': { ...strict, model: openai('gpt-5.2'), ...inChat },
  moonshot: { tools: 'moonshotTools', format: 'openAiFormat', model: openaiCompatible('kimi-k2.6', { backend: 'moonshot' }), ...inChat },
  responses: { ...openAi, model: openaiResponses('gpt-5.2'), ...inResponses },
  'responses, strict': { ...strict, model: openaiResponses('gpt-5.2'), ...inResponses },
  azure: { ...openAi, model: azure('gpt-5.2', { resource: 'r' }), ...inResponses },
  gemini: { tools: 'gemini', format: 'gemini', model: google('gemini-3.8-flash'), ...inGemini },
  vertex: { tools: 'gemini', format: 'gemini', model: vertex('gemini-3.8-flash', { project: 'p' }), ...inGemini },
}

/** The schema at a place of a body, or none; Bedrock takes it as text. */
function schemaAt(body: unknown, place: string): JsonSchema {
  const found = place.split('.').reduce(fieldIn, body)
  return typeof found === 'string' ? JSON.parse(found) : Object(found)
}

/** What a request with `parameters` says of the first tool, and of what was left out. */
async function toolSent({ model, toolAt }: Wire, parameters: JsonSchema) {
  const tools = [{ name: 'pick', description: 'Picks.', parameters }]
  const { body, warnings = [] } = await model.provider.encode(plainRequest(model.config, { tools }))
  return { schema: schemaAt(JSON.parse(body), toolAt), warnings }
}

/** What a request for an answer in the form of `schema` says of it; no schema where a tool takes the answer. */
async function formatSent(wire: Wire, schema: JsonSchema) {
  const { model, formatAt } = wire
  if (formatAt === undefined) return { schema: {}, warnings: [], json: {} }
  const responseFormat = { type: 'jsonSchema' as const, name: 'place', schema, ...(wire.strict && { strict: true }) }
  const { body, warnings = [] } = await model.provider.encode(plainRequest(model.config, { responseFormat }))
  const json = JSON.parse(body)
  return { schema: schemaAt(json, formatAt), warnings, json }
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false, addUsedSchema: false, logger: false })

/** Whether a value fits a schema. */
function fits(schema: JsonSchema, value: unknown): boolean {
  return ajv.validate(schema, value) === true
}

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
  it('sends nothing in tools that its row leaves out, and takes every call that fits', async () => {
    await fc.assert(
      fc.asyncProperty(anyArguments(false), async ({ schema, value }) => {
        const { schema: sent } = await toolSent(wire, schema)
        expect(outside(sent, dialects[wire.tools])).toEqual([])
        expect(fits(sent, value)).toBe(true)
      }),
      { numRuns: runs(5, 500) },
    )
  })

  it('holds answers to nothing that its row leaves out, and to nothing that the schema forbids', async () => {
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

  it('can still be called by every variant of a union', async () => {
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
      expect(warnings).toEqual([expect.stringMatching(/^tool pick is sent without .*oneOf of its root.*still checked/)])
    }
  })
})

describe('Claude is held to', () => {
  const { anthropic: wire } = wires as { anthropic: Wire }
  const amount = (changes: JsonObject): JsonSchema => ({
    type: 'object',
    properties: { amount: { type: 'integer', ...changes } },
    required: ['amount'],
    additionalProperties: false,
  })

  it('whole numbers, whose limits it is told in words', async () => {
    const { schema, warnings } = await formatSent(wire, amount({ minimum: -9007199254740991, maximum: 9007199254740991 }))
    expect(schema).toEqual(amount({ description: '(minimum: -9007199254740991, maximum: 9007199254740991)' }))
    expect(warnings).toEqual([
      'responseFormat place is sent without minimum of amount, maximum of amount: answers are still checked against it',
    ])
  })

  it('no schema that refers to itself: a tool takes the answer', async () => {
    const tree = { type: 'object', properties: { next: { $ref: '#' } }, additionalProperties: false }
    const { schema, json } = await formatSent(wire, tree)
    expect(schema).toEqual({})
    expect(json.tools).toMatchObject([{ name: 'respond_json', input_schema: { properties: { next: { $ref: '#' } } } }])
  })
})

describe('OpenAI', () => {
  const { 'chat, strict': wire } = wires as { 'chat, strict': Wire }

  it('is asked for null where a property of a strict schema is optional', async () => {
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

  it('is not held strictly to an open object, and says so', async () => {
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

it('says no property under a name that Claude refuses, and takes it still, of a closed object too', async () => {
  const filter = { $filter: { type: 'string' }, top: { type: 'integer' } }
  const parameters = { type: 'object', properties: filter, required: ['$filter'], additionalProperties: false }
  const { schema, warnings } = await toolSent(wires.anthropic as Wire, parameters)
  expect(schema).toEqual({ type: 'object', description: '(also takes $filter)', properties: { top: { type: 'integer' } }, required: [] })
  expect(fits(schema, { $filter: 'a eq 1' })).toBe(true)
  expect(warnings).toEqual([expect.stringContaining('the name of $filter')])
})

it('says by a number what draft 4 says by a flag', async () => {
  const age = { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false }
  const { schema } = await toolSent(wires.anthropic as Wire, { type: 'object', properties: { age } })
  expect(schema.properties).toEqual({ age: { type: 'number', minimum: 0, exclusiveMinimum: 0, maximum: 9 } })
})

it('keeps what stands beside a reference, where that is read into its place', async () => {
  const base = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
  const place = { $ref: '#/$defs/base', properties: { b: { type: 'string' } } }
  const { schema } = await toolSent(wires['bedrock, Nova'] as Wire, { type: 'object', properties: { place }, $defs: { base } })
  expect(schema.properties).toMatchObject({ place: { properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a'] } })
})

it('lists no type whose values are none', async () => {
  const kind = { type: ['string', 'integer'], enum: ['a'] }
  const schema = { type: 'object', properties: { kind }, required: ['kind'], additionalProperties: false }
  expect((await formatSent(wires.anthropic as Wire, schema)).schema.properties).toEqual({ kind: { type: 'string', enum: ['a'] } })
})

it('merges what a hostile schema refers to in bounded time', async () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`d${at}`, { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] }]),
  )
  const parameters = { allOf: [{ $ref: '#/$defs/d0' }], properties: { a: { $ref: '#/$defs/d0' } }, $defs }
  for (const wire of Object.values(wires)) expect(await toolSent(wire, parameters)).toBeDefined()
})

it.each(['chat', 'responses', 'azure'])('refuses by name what OpenAI refuses: more than 128 tools (%s)', async (name) => {
  const { model } = wires[name] as Wire
  const tools = Array.from({ length: 129 }, (_, at) => ({ name: `t${at}`, description: 'A tool.', parameters: { type: 'object' } }))
  const encoding = model.provider.encode(plainRequest(model.config, { tools }))
  await expect(encoding).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('at most 128 tools, and gpt-5.2 was given 129'),
  })
  expect(await model.provider.encode(plainRequest(model.config, { tools: tools.slice(1) }))).toBeDefined()
})

describe('a schema for the items that no other keyword has taken', () => {
  it.each(Object.entries(wires))('%s: holds to the row as every schema within does', async (_, wire) => {
    const item = { type: 'object', propertyNames: { minLength: 1 }, properties: { a: { $ref: '#/$defs/a' } } }
    const list = { type: 'array', unevaluatedItems: item, 'x-phi': true }
    const parameters = { type: 'object', properties: { list }, $defs: { a: { type: 'string', pattern: '^(?=a)' } } }
    const { schema } = await toolSent(wire, parameters)
    expect(outside(schema, dialects[wire.tools])).toEqual([])
  })
})
