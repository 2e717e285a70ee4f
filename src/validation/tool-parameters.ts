import { ConfigError, errorText, LoadError, type MisuseCode } from '../contract/errors.ts'
import { isObject, type JsonObject, type JsonSchema } from '../contract/json.ts'
import type { SchemaResult, StandardSchema } from '../types/standard-schema.ts'
import type { AgentTool, ToolParameters } from '../types/tool/tool.ts'
import { type JsonCheck, type JsonSchemaCompiler, jsonSchemaValidator } from './json-schema-validator.ts'

const schemas = new WeakMap<AgentTool, JsonSchema>()
const checks = new WeakMap<JsonSchemaCompiler, WeakMap<AgentTool, JsonCheck>>()

/**
 * Returns the JSON Schema of a tool's arguments, as sent to the model. Computed once per tool.
 *
 * **Contract**
 * - From the Standard Schema (`~standard.jsonSchema`), or the tool's `jsonSchema`. A raw JSON Schema is returned unchanged.
 * - Throws `ConfigError` `invalidTool` for anything else, and for a root that is not `type: "object"`.
 *
 * Source: docs/concepts/tools.md
 */
export function toolJsonSchema(tool: AgentTool): JsonSchema {
  let schema = schemas.get(tool)
  if (schema === undefined) {
    schema = readSchema(tool)
    if (schema.type !== 'object') {
      throw new ConfigError(
        'invalidTool',
        `Tool "${tool.name}": parameters must be an object schema with "type": "object" at the root, such as z.object({ … }).`,
      )
    }
    schemas.set(tool, schema)
  }
  return schema
}

/**
 * Validates the arguments of a tool call.
 *
 * **Contract**
 * - A Standard Schema validates by itself and may transform. `value` is its output.
 * - A raw JSON Schema is passed to `validator`, by default `jsonSchemaValidator`. Each tool is compiled once per validator.
 * - Returns a promise only if the schema does, or while the interpreter is being loaded.
 * - Never throws: a validator's errors become issues. Rejects only with `LoadError`, which is not the model's fault. `args` is not changed.
 */
export function checkArguments(
  tool: AgentTool,
  args: JsonObject,
  validator: JsonSchemaCompiler = jsonSchemaValidator,
): SchemaResult<JsonObject> | Promise<SchemaResult<JsonObject>> {
  const { parameters } = tool
  try {
    const result = isStandardSchema(parameters) ? parameters['~standard'].validate(args) : compiled(tool, parameters, validator)(args)
    return result instanceof Promise ? result.then(erase).catch(asIssues) : erase(result)
  } catch (error) {
    return asIssues(error)
  }
}

/**
 * Returns the JSON Schema of a Standard Schema's input. Throws `ConfigError` `code` if there is none. `owner` names the schema in the
 * message, `where` says how to provide it instead.
 */
export function jsonSchemaOf(schema: StandardSchema, code: MisuseCode, owner: string, where: string): JsonSchema {
  const { vendor, jsonSchema } = schema['~standard']
  const none = `${owner}: the ${vendor} schema has no JSON Schema`
  if (jsonSchema === undefined) throw new ConfigError(code, `${none}. Pass one ${where}, or use zod 4.2 or newer.`)
  try {
    return jsonSchema.input({ target: 'draft-2020-12' })
  } catch (error) {
    const why = errorText(error).replace(/\.?$/, '.')
    throw new ConfigError(code, `${none}: ${why} A model sends JSON: ${jsonInstead(why)}. Or pass one ${where}.`, { cause: error })
  }
}

/** Replacements to suggest for features that a schema library cannot express in JSON Schema, by the start of its error message. */
const insteadOf: readonly (readonly [RegExp, string])[] = [
  [/^date/i, 'take a text, such as z.iso.datetime().transform((text) => new Date(text))'],
  [/^bigint/i, 'take a text, such as z.string().transform(BigInt)'],
  [/^map/i, 'take an object, such as z.record()'],
  [/^set/i, 'take a list, such as z.array()'],
  [/^(transform|custom)/i, 'begin with a type that JSON has, such as z.string().transform()'],
]

function jsonInstead(complaint: string): string {
  return insteadOf.find(([begins]) => begins.test(complaint))?.[1] ?? 'take a type that JSON has'
}

/** Returns whether tool parameters are a Standard Schema rather than a JSON Schema. */
export function isStandardSchema(parameters: ToolParameters): parameters is StandardSchema {
  return (typeof parameters === 'object' || typeof parameters === 'function') && parameters !== null && '~standard' in parameters
}

function readSchema(tool: AgentTool): JsonSchema {
  const { parameters } = tool
  if (!isStandardSchema(parameters)) {
    if (isObject(parameters)) return parameters
    throw new ConfigError('invalidTool', `Tool "${tool.name}": parameters must be a Standard Schema or a JSON Schema object.`)
  }
  return tool.jsonSchema ?? jsonSchemaOf(parameters, 'invalidTool', `Tool "${tool.name}"`, 'as "jsonSchema"')
}

function compiled(tool: AgentTool, schema: JsonSchema, validator: JsonSchemaCompiler): JsonCheck {
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

/** The validated value has the type of the tool's `execute`. The erased tool type calls it JsonObject. */
function erase(result: SchemaResult<unknown>): SchemaResult<JsonObject> {
  return result as SchemaResult<JsonObject>
}

function asIssues(error: unknown): SchemaResult<JsonObject> {
  if (LoadError.isInstance(error)) throw error
  return { issues: [{ message: `could not be validated: ${errorText(error)}` }] }
}
