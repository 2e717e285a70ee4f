import { errorText } from '../contract/errors.ts'
import type { JsonSchema } from '../contract/json.ts'
import { fits } from '../contract/shape/read.ts'
import { aJsonSchema } from '../contract/shape/shape.ts'
import type { StandardSchema } from '../types/standard-schema.ts'
import type { ToolParameters } from '../types/tool/tool.ts'
import { cheapSchema } from '../validation/cheap-schema.ts'
import { jsonSchemaValidator } from '../validation/json-schema-validator.ts'
import { readableSchema } from './readable-schema.ts'

/** Schema and validation of a tool's arguments. `unchecked`: why part of the validation is left to the server. */
export interface ServerSchema {
  parameters: ToolParameters
  jsonSchema?: JsonSchema
  unchecked?: string
}

/** Maximum characters of a schema as JSON: every request contains it. */
const maxSchema = 262_144
/** Maximum characters of all parts of a schema that are compiled one by one. */
const maxParts = 400_000

/**
 * Returns the schema and validation for a tool; `undefined` if the schema is too large or too deep to send.
 *
 * Enforces what our validator supports. If it does not support the schema as a whole, it enforces the supported properties one by one.
 * The model gets the unchanged schema.
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
  return { parameters: inParts([schema]), jsonSchema, unchecked: 'A pattern in it cannot be matched in bounded time.' }
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
