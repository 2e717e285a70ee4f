import { isJsonObject, type JsonObject, type JsonSchema, type JsonValue } from '../../../contract/json.ts'
import type { ResponseFormat } from '../../../contract/model/request-settings.ts'
import { isToolName } from '../../../contract/tool/tool-result.ts'
import { textIn } from '../../shared/client-input.ts'
import { refuse, refuseUnsupported } from './caller-fault.ts'

/** A function that the caller runs. */
export interface CallerTool {
  name: string
  description: string
  /** The caller's original definition. */
  parameters: JsonSchema
}

/** OpenAI's maximum. */
const maxTools = 128

/** Parses the caller's functions and rejects all other tools. `definitionOf` returns the definition in a list entry. */
export function callerTools(given: JsonValue | undefined, definitionOf: (entry: JsonObject) => JsonValue | undefined): CallerTool[] {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) refuse('tools', 'tools must be a list.')
  if (given.length > maxTools) refuse('tools', `tools has ${given.length} entries; at most ${maxTools} are taken.`)
  const names = new Set<string>()
  return given.map((entry, index) => {
    const param = `tools[${index}]`
    if (!isJsonObject(entry)) refuse(param, `${param} must be an object.`)
    if (entry.type !== 'function') {
      refuseUnsupported(`${param}.type`, 'The agent runs its own tools. A request can add only tools of type "function".')
    }
    const tool = toolOf(definitionOf(entry), param)
    if (names.has(tool.name)) refuse(param, `Two tools are named "${tool.name}".`)
    names.add(tool.name)
    return tool
  })
}

function toolOf(given: JsonValue | undefined, param: string): CallerTool {
  if (!isJsonObject(given)) refuse(param, `${param} must describe a function: { "name", "description", "parameters" }.`)
  const { name, description, parameters } = given
  if (typeof name !== 'string' || !isToolName(name)) refuse(param, `${param} needs a name of 1 to 64 letters, digits, _ or -.`)
  if (parameters !== undefined && parameters !== null && !isJsonObject(parameters))
    refuse(param, `${param}.parameters must be a JSON Schema.`)
  return {
    name,
    description: textIn(description) ?? '',
    parameters: isJsonObject(parameters) ? parameters : { type: 'object', properties: {} },
  }
}

/**
 * Returns the requested response format, or `undefined` for text. `definitionOf` returns the name and schema of `json_schema`, whose location
 * differs between the APIs.
 */
export function callerFormat(
  given: JsonValue | undefined,
  param: string,
  definitionOf: (format: JsonObject) => JsonValue | undefined,
): ResponseFormat | undefined {
  if (given === undefined || given === null) return undefined
  if (!isJsonObject(given)) refuse(param, `${param} must be an object with a type.`)
  if (given.type === 'text') return undefined
  if (given.type === 'json_object') return { type: 'jsonObject' }
  if (given.type !== 'json_schema') refuse(`${param}.type`, `${param}.type must be "text", "json_object" or "json_schema".`)
  const definition = definitionOf(given)
  if (!isJsonObject(definition) || typeof definition.name !== 'string' || !isJsonObject(definition.schema)) {
    refuse(param, `${param} of type "json_schema" needs a name and a schema.`)
  }
  const { name, schema, strict } = definition
  return { type: 'jsonSchema', name, schema, ...(typeof strict === 'boolean' && { strict }) }
}
