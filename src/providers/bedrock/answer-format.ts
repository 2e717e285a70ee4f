import { ProviderError } from '../../types/errors.ts'
import type { JsonObject } from '../../types/json.ts'
import type { ModelCapabilities } from '../../types/model-config.ts'
import type { StreamRequest } from '../../types/provider.ts'
import { answerByTool, answerToolName } from '../shared/answer-tool.ts'
import { closedSchema } from '../shared/closed-schema.ts'
import { legalName } from '../shared/legal-name.ts'
import type { Family } from './capabilities.ts'

/** How the form of an answer is asked for. */
export interface AnswerFormat {
  /** To be encoded: the request, or one with a tool that takes the answer. */
  request: StreamRequest
  /** `outputConfig`, where the service holds the model to a schema. */
  outputConfig?: JsonObject
  /** `toolChoice`, where a tool must be called. */
  toolChoice?: JsonObject
  /** For the decoder, where a tool takes the answer. */
  answerTool?: string
}

/**
 * A schema goes to the service, for the models it holds to one; Claude models that it does not are made to call a tool.
 * Throws `ProviderError` `schemaMismatch` for all others. Source: reference/phi-core-0.10.md §1 "Structured output".
 */
export function answerFormat(
  request: StreamRequest,
  { thinkingField }: Family,
  capabilities: ModelCapabilities,
  warnings: string[],
): AnswerFormat {
  const format = request.responseFormat
  if (format === undefined || format.type === 'text') return { request }
  const schema = format.type === 'jsonSchema' && capabilities.jsonSchema ? closedSchema(format.schema) : undefined
  if (schema !== undefined && format.type === 'jsonSchema') {
    const jsonSchema = { schema: JSON.stringify(schema), name: legalName(format.name) }
    return { request, outputConfig: { textFormat: { type: 'json_schema', structure: { jsonSchema } } } }
  }
  if (thinkingField !== 'claude') throw noForm(request.model.id, format.type, capabilities.jsonSchema)
  const native = { jsonObject: false, jsonSchema: false, forcingStopsThinking: true }
  const byTool = answerByTool(request, capabilities, native, warnings)
  if (byTool === undefined) return { request }
  const result: AnswerFormat = { request: byTool.request, answerTool: byTool.answerTool }
  if (byTool.force === 'answer') result.toolChoice = { tool: { name: answerToolName } }
  else if (byTool.force === 'any') result.toolChoice = { any: {} }
  return result
}

function noForm(id: string, format: string, takesSchemas: boolean): ProviderError {
  const next = takesSchemas
    ? 'Give a JSON Schema whose objects name all their properties.'
    : 'Use a Claude model, or set capabilities.jsonSchema if this one has learnt it.'
  return new ProviderError('schemaMismatch', `Amazon Bedrock cannot hold ${id} to responseFormat ${format}. ${next}`)
}
