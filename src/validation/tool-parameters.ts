import { ConfigError, errorText, type MisuseCode } from '../types/errors.ts'
import type { JsonObject, JsonSchema } from '../types/json.ts'
import type { SchemaResult, SchemaValidator, StandardSchema } from '../types/standard-schema.ts'
import type { AgentTool, ToolParameters } from '../types/tool.ts'

type Check = (value: unknown) => SchemaResult<unknown>

const schemas = new WeakMap<AgentTool, JsonSchema>()
const checks = new WeakMap<SchemaValidator, WeakMap<AgentTool, Check>>()
let defaultValidator: SchemaValidator | undefined

/**
 * The JSON Schema of a tool's arguments, as it is sent to the model; computed once per tool.
 *
 * **Contract**
 * - A Standard Schema gives it itself (`~standard.jsonSchema`), or the tool carries it as `jsonSchema`; a raw JSON Schema is returned as it is.
 * - Throws `ConfigError` `invalidTool` for anything else, and for a root that is not `type: "object"`.
 *
 * Source: ARCHITECTURE §3 "AgentTool".
 */
export function toolJsonSchema(tool: AgentTool): JsonSchema {
  let schema = schemas.get(tool)
  if (schema === undefined) {
    schema = readSchema(tool)
    if (schema.type !== 'object') {
      throw new ConfigError('invalidTool', `Tool "${tool.name}": parameters must be an object schema ("type": "object" at the root).`)
    }
    schemas.set(tool, schema)
  }
  return schema
}

/**
 * Validates what a model wants to call a tool with.
 *
 * **Contract**
 * - A Standard Schema validates by itself and may transform; `value` is what it produced.
 * - A raw JSON Schema goes to `validator`, by default the interpreter, which is loaded on first use: the first answer is then a promise.
 *   Each tool is compiled once per validator.
 * - Never throws or rejects: a validator that fails becomes issues. `args` is not changed.
 */
export function checkArguments(
  tool: AgentTool,
  args: JsonObject,
  validator: SchemaValidator | undefined = defaultValidator,
): SchemaResult<JsonObject> | Promise<SchemaResult<JsonObject>> {
  const { parameters } = tool
  try {
    if (isStandardSchema(parameters)) {
      const result = parameters['~standard'].validate(args)
      return result instanceof Promise ? result.then(erase).catch(asIssues) : erase(result)
    }
    if (validator !== undefined) return erase(compiled(tool, parameters, validator)(args))
    return loadDefault()
      .then((loaded) => erase(compiled(tool, parameters, loaded)(args)))
      .catch(asIssues)
  } catch (error) {
    return asIssues(error)
  }
}

/**
 * The JSON Schema of what `schema` accepts. Throws `ConfigError` `code` where there is none; `owner` says in the message whose schema it
 * is, `where` how to give one instead.
 */
export function jsonSchemaOf(schema: StandardSchema, code: MisuseCode, owner: string, where: string): JsonSchema {
  const { vendor, jsonSchema } = schema['~standard']
  let why = '.'
  try {
    if (jsonSchema !== undefined) return jsonSchema.input({ target: 'draft-2020-12' })
  } catch (error) {
    why = `: ${errorText(error)}`
  }
  throw new ConfigError(code, `${owner}: the ${vendor} schema has no JSON Schema${why} Pass one ${where}, or use zod 4.2 or newer.`)
}

/** Whether tool parameters are a Standard Schema rather than a JSON Schema. */
export function isStandardSchema(parameters: ToolParameters): parameters is StandardSchema {
  return (typeof parameters === 'object' || typeof parameters === 'function') && parameters !== null && '~standard' in parameters
}

function readSchema(tool: AgentTool): JsonSchema {
  const { parameters } = tool
  if (!isStandardSchema(parameters)) {
    if (typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters)) return parameters
    throw new ConfigError('invalidTool', `Tool "${tool.name}": parameters must be a Standard Schema or a JSON Schema object.`)
  }
  return tool.jsonSchema ?? jsonSchemaOf(parameters, 'invalidTool', `Tool "${tool.name}"`, 'as "jsonSchema"')
}

function compiled(tool: AgentTool, schema: JsonSchema, validator: SchemaValidator): Check {
  let perTool = checks.get(validator)
  if (perTool === undefined) {
    perTool = new WeakMap()
    checks.set(validator, perTool)
  }
  let check = perTool.get(tool)
  if (check === undefined) {
    check = validator.compile(schema)
    perTool.set(tool, check)
  }
  return check
}

async function loadDefault(): Promise<SchemaValidator> {
  const { jsonSchemaValidator } = await import('./json-schema-validator.ts')
  defaultValidator ??= jsonSchemaValidator()
  return defaultValidator
}

/** What a schema accepted is what the tool's `execute` was typed with; the erased type of a tool calls it JsonObject. */
function erase(result: SchemaResult<unknown>): SchemaResult<JsonObject> {
  return result as SchemaResult<JsonObject>
}

function asIssues(error: unknown): SchemaResult<JsonObject> {
  return { issues: [{ message: `could not be validated: ${errorText(error)}` }] }
}
