import type { JsonObject } from '../../types/json.ts'
import { answerToolName, type ResponseFormat, type StreamRequest } from '../../types/provider.ts'
import { type AnswerByTool, answerByTool } from '../shared/answer-tool.ts'
import { closedSchema } from '../shared/closed-schema.ts'
import { sayingJson } from '../shared/json-mode.ts'
import { legalName } from '../shared/legal-name.ts'
import type { Dialect } from './dialect.ts'

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
 * `response_format`, or a forced tool for backends that cannot be held to a schema.
 *
 * JSON mode is refused unless "JSON" stands somewhere in the conversation, so it is said in the system prompt.
 *
 * Source: reference/providers.md §2 "Body"; reference/phi-core-0.10.md §1 "Structured output".
 */
export function answerFormat(request: StreamRequest, { capabilities, compat, hasJsonMode }: Dialect, warnings: string[]): AnswerFormat {
  const format = request.responseFormat
  if (format === undefined || format.type === 'text') return { request, fields: {} }
  // DeepSeek and Moonshot refuse a forced tool while they think.
  const native = { jsonObject: true, jsonSchema: capabilities.jsonSchema, forcingStopsThinking: compat.thinkingFormat === 'deepSeek' }
  const byTool = answerByTool(request, capabilities, native, warnings)
  if (byTool !== undefined) return { request: byTool.request, fields: forcing(byTool), answerTool: byTool.answerTool }
  if (format.type === 'jsonSchema') return { request, fields: { response_format: schemaFormat(format) } }
  const field: JsonObject = hasJsonMode
    ? { type: 'json_object' }
    : schemaFormat({ type: 'jsonSchema', name: 'answer', schema: { type: 'object' } })
  return { request: sayingJson(request), fields: { response_format: field } }
}

function forcing({ force }: AnswerByTool): JsonObject {
  if (force === 'none') return {}
  return { tool_choice: force === 'any' ? 'required' : { type: 'function', function: { name: answerToolName } } }
}

/** In strict mode every object must be closed; where that cannot be, the service says what it wants. */
function schemaFormat({ name, schema, strict }: Extract<ResponseFormat, { type: 'jsonSchema' }>): JsonObject {
  // A schema is JSON: its type only does not say so.
  const sent = (strict === true ? (closedSchema(schema) ?? schema) : schema) as JsonObject
  const format = { name: legalName(name), schema: sent }
  return { type: 'json_schema', json_schema: strict === undefined ? format : { ...format, strict } }
}
