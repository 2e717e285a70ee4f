import type { JsonSchema } from '../../../../contract/json.ts'
import type { ModelCapabilities } from '../../../../contract/model/model-config.ts'
import { answerToolName, type ToolDefinition } from '../../../../contract/model/request.ts'
import type { StreamRequest } from '../../../../types/model/provider.ts'
import { perObject } from '../../encode/json-pieces.ts'

export { answerToolName }

const description =
  'Returns the final answer as its arguments. Call it exactly once, when everything else is done, and write no other text.'

const openObject: JsonSchema = { type: 'object', additionalProperties: true }

const answerTool = perObject((schema: JsonSchema): ToolDefinition => ({ name: answerToolName, description, parameters: schema }))

/** Tool lists with the answer tool appended. Returns the same list each time, so that encoded forms are reused. */
const extendedTools = perObject((tools: readonly ToolDefinition[]) =>
  perObject((schema: JsonSchema): readonly ToolDefinition[] => [...tools, answerTool(schema)]),
)

/** Response formats that the provider can enforce. */
export interface NativeFormats {
  /** Whether the provider has a mode for arbitrary JSON objects. */
  jsonObject: boolean
  /** Returns whether the provider can enforce this schema. */
  jsonSchema: boolean
  /** Whether the model rejects a forced tool while it thinks (Anthropic's models on any platform). */
  forcingStopsThinking: boolean
}

/** A request whose response is a call to the answer tool. */
export interface AnswerByTool {
  /** The request to encode, with the answer tool last, and without thinking if thinking prevents a forced tool. */
  request: StreamRequest
  /** The forced choice: this tool, any tool (if other tools may be called first), or none if the provider rejects forced tools. */
  force: 'answer' | 'any' | 'none'
  /** For the `AssistantBuilder`, which converts the call of this tool to the response text. */
  answerTool: typeof answerToolName
}

/**
 * Plans the response format of `request` for a provider without native support. `undefined` if nothing is needed.
 *
 * **Contract**
 * - If the answer tool is the only tool, forces it by name. With other tools, forces any tool, so that the model can still use them. In
 *   both cases, a call to the answer tool ends the run, because the builder converts the call to text with stop reason `stop`.
 * - If a forced tool and thinking exclude each other, disables thinking for this call with a warning. For models that always think, forces
 *   the tool anyway.
 * - If the provider cannot force a tool, requests the call in the tool description and adds a warning.
 *
 * Source: docs/guides/structured-output.md
 */
export function answerByTool(
  request: StreamRequest,
  capabilities: ModelCapabilities,
  native: NativeFormats,
  warnings: string[],
): AnswerByTool | undefined {
  const format = request.responseFormat
  if (format === undefined || format.type === 'text' || native[format.type]) return undefined
  const tools = extendedTools(request.tools)(format.type === 'jsonSchema' ? format.schema : openObject)
  const changed: StreamRequest = { ...request, tools, responseFormat: { type: 'text' } }
  if (!capabilities.forcedToolChoice) {
    warnings.push(`responseFormat ${format.type}: ${request.model.id} cannot enforce this format, so it is only requested`)
    return { request: changed, force: 'none', answerTool: answerToolName }
  }
  const thinks = capabilities.thinking === 'budget' || capabilities.thinking === 'adaptive'
  if (native.forcingStopsThinking && thinks && request.thinking !== 'off') {
    changed.thinking = 'off'
    warnings.push(
      `thinking switched off for this call: ${request.model.id} does not think while it is held to responseFormat ${format.type}`,
    )
  }
  return { request: changed, force: request.tools.length === 0 ? 'answer' : 'any', answerTool: answerToolName }
}
