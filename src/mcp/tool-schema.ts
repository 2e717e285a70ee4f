import { errorText } from '../contract/errors.ts'
import type { JsonSchema } from '../contract/json.ts'
import { fits } from '../contract/shape/read.ts'
import { aJsonSchema } from '../contract/shape/shape.ts'
import type { StandardSchema } from '../types/standard-schema.ts'
import type { ToolParameters } from '../types/tool/tool.ts'
import { cheapSchema } from '../validation/cheap-schema.ts'
import { jsonSchemaValidator } from '../validation/json-schema-validator.ts'
import { readableSchema } from './readable-schema.ts'

/** How the arguments of a tool are described and checked. `unchecked`: why part of it is left to the server. */
export interface ServerSchema {
  parameters: ToolParameters
  jsonSchema?: JsonSchema
  unchecked?: string
}

/** Characters of the JSON of a schema: it is sent with every request. */
const maxSchema = 262_144
/** Characters of all parts of a schema that are looked at one by one. */
const maxParts = 400_000

/**
 * What a server said of the arguments of a tool. `undefined` for what cannot be sent to a model: too large or too deep.
 *
 * What our validator enforces is enforced; of a schema that it cannot enforce as a whole, those properties that it can, one by one. The model is shown
 * the schema as it is.
 */
export function serverSchema(given: unknown): ServerSchema | undefined {
  if (given === undefined) return { parameters: { type: 'object' } }
  if (!fits(aJsonSchema, given)) return undefined
  if (JSON.stringify(given).length > maxSchema) return undefined
  const jsonSchema: JsonSchema = { ...readableSchema(given), type: 'object' }
  const cheap = cheapSchema(jsonSchema)
  if (cheap === undefined) {
    return { parameters: inParts([]), jsonSchema, unchecked: 'Its references come to too many schemas.' }
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
 * What of a schema can be enforced: which properties must be there, and each property by itself, as far as {@link maxParts} goes. Every one is read
 * with all definitions, so that of many properties beside many definitions only the first are looked at.
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
