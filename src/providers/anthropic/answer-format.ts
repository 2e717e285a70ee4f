import type { JsonObject } from '../../types/json.ts'
import type { ModelCapabilities } from '../../types/model-config.ts'
import type { StreamRequest } from '../../types/provider.ts'
import { answerByTool, answerToolName } from '../shared/answer-tool.ts'
import { closedSchema } from '../shared/closed-schema.ts'

/** How the form of an answer is asked for. */
export interface AnswerFormat {
  /** To be encoded: the request, or one with a tool that takes the answer. */
  request: StreamRequest
  /** Adds what the service is told about the form to the fields of the body. */
  addTo: (fields: JsonObject) => void
  /** For the decoder, where a tool takes the answer. */
  answerTool?: string
}

/**
 * The service takes schemas whose objects are closed (`output_config.format`), from the models that have it. Everything else, also any
 * JSON object, is the answer of a forced tool.
 *
 * Source: reference/providers.md §1 "Structured output", §7 #10.
 */
export function answerFormat(request: StreamRequest, capabilities: ModelCapabilities, warnings: string[]): AnswerFormat {
  const format = request.responseFormat
  const schema = format?.type === 'jsonSchema' && capabilities.jsonSchema ? closedSchema(format.schema) : undefined
  const native = { jsonObject: false, jsonSchema: schema !== undefined, forcingStopsThinking: true }
  const byTool = answerByTool(request, capabilities, native, warnings)
  if (byTool !== undefined) {
    const choice = byTool.force === 'answer' ? { type: 'tool', name: answerToolName } : { type: 'any' }
    const addTo = (fields: JsonObject) => {
      if (byTool.force !== 'none') fields.tool_choice = choice
    }
    return { request: byTool.request, addTo, answerTool: byTool.answerTool }
  }
  return {
    request,
    addTo: (fields) => {
      // A schema is JSON: its type only does not say so.
      if (schema !== undefined)
        fields.output_config = { ...asObject(fields.output_config), format: { type: 'json_schema', schema: schema as JsonObject } }
    },
  }
}

function asObject(value: JsonObject[string] | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
}
