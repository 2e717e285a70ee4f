import { errorText } from '../contract/errors.ts'
import type { JsonSchema } from '../contract/json.ts'
import { fits } from '../contract/shape/read.ts'
import { aJsonSchema } from '../contract/shape/shape.ts'
import type { StandardSchema } from '../types/standard-schema.ts'
import type { ToolParameters } from '../types/tool/tool.ts'
import { cheapSchema } from '../validation/cheap-schema.ts'
import { type JsonCheck, jsonSchemaValidator } from '../validation/json-schema-validator.ts'
import { isStandardSchema } from '../validation/tool-parameters.ts'
import { readableSchema } from './readable-schema.ts'

/** Schema and validation of a tool's arguments. `unchecked`: reason why the server must validate part of them. */
export interface ServerSchema {
  parameters: ToolParameters
  jsonSchema?: JsonSchema
  unchecked?: string
}

/** Maximum characters of a schema as JSON. Limited, because every request contains it. */
const maxSchema = 262_144
/** Maximum total characters of schema parts that are compiled separately. */
const maxParts = 400_000

/**
 * Returns the schema and validation for a tool, or `undefined` if the schema is too large or too deep to send.
 *
 * If the validator does not support the whole schema, enforces only the supported properties. The model gets the unchanged schema.
 */
export function serverSchema(given: unknown): ServerSchema | undefined {
  if (given === undefined) return { parameters: { type: 'object' } }
  if (!fits(aJsonSchema, given)) return undefined
  if (JSON.stringify(given).length > maxSchema) return undefined
  const jsonSchema: JsonSchema = { ...readableSchema(given), type: 'object' }
  const cheap = cheapSchema(jsonSchema)
  if (cheap === undefined) {
    return { parameters: inParts([]), jsonSchema, unchecked: 'The schema has too many references.' }
  }
  const { schema, isWhole } = cheap
  const unchecked = faultOf(schema)
  if (unchecked !== undefined) return { parameters: inParts(partsOf(schema)), jsonSchema, unchecked }
  if (isWhole) return { parameters: jsonSchema }
  return { parameters: inParts([schema]), jsonSchema, unchecked: 'The schema has a pattern that cannot be matched in bounded time.' }
}

const outputChecks = new WeakMap<object, JsonCheck>()

/**
 * Returns the validator for a tool's `structuredContent`, or `undefined` if there is no usable `outputSchema`. As with arguments, enforces
 * only the properties that the validator supports. Compiled once per schema.
 */
export function outputCheck(outputSchema: unknown): JsonCheck | undefined {
  if (typeof outputSchema !== 'object' || outputSchema === null) return undefined
  const known = outputChecks.get(outputSchema)
  const schema = known === undefined ? serverSchema(outputSchema)?.parameters : undefined
  if (schema === undefined) return known
  const check: JsonCheck = isStandardSchema(schema) ? (value) => schema['~standard'].validate(value) : jsonSchemaValidator.compile(schema)
  outputChecks.set(outputSchema, check)
  return check
}

function faultOf(schema: JsonSchema): string | undefined {
  try {
    jsonSchemaValidator.compile(schema)
    return undefined
  } catch (error) {
    return errorText(error)
  }
}

/**
 * Splits a schema into enforceable parts: the required properties, and each property by itself, up to {@link maxParts}. Each part
 * includes all definitions, so with many definitions only the first properties are covered.
 */
function partsOf({ properties, required, $defs, definitions }: JsonSchema): JsonSchema[] {
  const shared = { type: 'object', ...($defs !== undefined && { $defs }), ...(definitions !== undefined && { definitions }) }
  const parts: JsonSchema[] = [{ type: 'object', ...(required !== undefined && { required }) }]
  const sharedLength = JSON.stringify(shared).length
  let left = maxParts
  for (const [name, property] of Object.entries(Object(properties))) {
    left -= sharedLength + JSON.stringify(property).length
    if (left < 0) break
    parts.push({ ...shared, properties: { [name]: property } })
  }
  return parts.filter((part) => faultOf(part) === undefined)
}

function inParts(parts: readonly JsonSchema[]): StandardSchema {
  const checks = parts.map((part) => jsonSchemaValidator.compile(part))
  return {
    '~standard': {
      version: 1,
      vendor: 'mcp',
      validate: async (value) => {
        const results = await Promise.all(checks.map((check) => check(value)))
        const issues = results.flatMap((result) => result.issues ?? [])
        return issues.length > 0 ? { issues } : { value }
      },
    },
  }
}
