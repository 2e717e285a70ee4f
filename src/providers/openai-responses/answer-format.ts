import type { JsonObject } from '../../types/json.ts'
import type { ModelCapabilities } from '../../types/model-config.ts'
import type { ResponseFormat, StreamRequest } from '../../types/provider.ts'
import { type AnswerByTool, answerByTool } from '../shared/answer-tool.ts'
import { closedSchema } from '../shared/closed-schema.ts'
import { sayingJson } from '../shared/json-mode.ts'
import { legalName } from '../shared/legal-name.ts'

/** How the form of an answer is asked for. */
export interface AnswerFormat {
  /** To be encoded: the request, or one that says more. */
  request: StreamRequest
  /** Fields of the body. */
  fields: JsonObject
  /** For the decoder, where a tool takes the answer. */
  answerTool?: string
}

/**
 * `text.format`, or a forced tool for models that cannot be held to a schema.
 *
 * A JSON object is refused unless "JSON" stands somewhere in the input, so it is said in the system prompt.
 *
 * Source: reference/providers.md §3 "Body"; reference/phi-core-0.10.md §1 "Structured output".
 */
export function answerFormat(request: StreamRequest, capabilities: ModelCapabilities, warnings: string[]): AnswerFormat {
  const format = request.responseFormat
  if (format === undefined || format.type === 'text') return { request, fields: {} }
  const native = { jsonObject: true, jsonSchema: capabilities.jsonSchema, forcingStopsThinking: false }
  const byTool = answerByTool(request, capabilities, native, warnings)
  if (byTool !== undefined) return { request: byTool.request, fields: forcing(byTool), answerTool: byTool.answerTool }
  if (format.type === 'jsonSchema') return { request, fields: { text: { format: schemaFormat(format) } } }
  return { request: sayingJson(request), fields: { text: { format: { type: 'json_object' } } } }
}

function forcing({ force, answerTool }: AnswerByTool): JsonObject {
  if (force === 'none') return {}
  return { tool_choice: force === 'any' ? 'required' : { type: 'function', name: answerTool } }
}

/** In strict mode every object must be closed; where that cannot be, the service says what it wants. */
function schemaFormat({ name, schema, strict = false }: Extract<ResponseFormat, { type: 'jsonSchema' }>): JsonObject {
  // A schema is JSON: its type only does not say so.
  const sent = (strict ? (closedSchema(schema) ?? schema) : schema) as JsonObject
  return { type: 'json_schema', name: legalName(name), schema: sent, strict }
}
