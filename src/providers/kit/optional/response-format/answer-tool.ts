import type { JsonSchema } from '../../../../contract/json.ts'
import type { ModelCapabilities } from '../../../../contract/model/model-config.ts'
import { answerToolName, type ToolDefinition } from '../../../../contract/model/request.ts'
import type { StreamRequest } from '../../../../types/model/provider.ts'
import { perObject } from '../../encode/json-pieces.ts'

export { answerToolName }

const description =
  'Gives the final answer. The arguments are the answer: call it exactly once, when nothing else is left to do, and write no other text.'

const openObject: JsonSchema = { type: 'object', additionalProperties: true }

const answerTool = perObject((schema: JsonSchema): ToolDefinition => ({ name: answerToolName, description, parameters: schema }))

/** Tool lists with the answer tool appended; the same list each time, so that encoded forms are reused. */
const extendedTools = perObject((tools: readonly ToolDefinition[]) =>
  perObject((schema: JsonSchema): readonly ToolDefinition[] => [...tools, answerTool(schema)]),
)

/** Response formats that the provider can enforce. */
export interface NativeFormats {
  /** It has a mode for any JSON object. */
  jsonObject: boolean
  /** It can enforce this schema. */
  jsonSchema: boolean
  /** It rejects a forced tool while it thinks (Anthropic's models on any platform). */
  forcingStopsThinking: boolean
}

/** A request whose response is a call of the answer tool. */
export interface AnswerByTool {
  /** The request to encode: with the answer tool after the others, and without thinking if that prevents forcing it. */
  request: StreamRequest
  /** The forced choice: this tool, any tool (the others may come first), or none if the provider rejects forced tools. */
  force: 'answer' | 'any' | 'none'
  /** For the `AssistantBuilder`: the call of this tool becomes the response text. */
  answerTool: typeof answerToolName
}

/**
 * Plans the response format of `request` for a provider without one of its own; `undefined` if nothing is needed.
 *
 * **Contract**
 * - The answer tool alone is forced by name; with other tools, any tool is forced, so that the model can still use them. Either way the
 *   call of the answer tool ends the run, because the builder turns it into text that stopped with `stop`.
 * - If forcing and thinking exclude each other, this call does not think, and `warnings` says so. Models that always think are
 *   forced as they are.
 * - If no tool can be forced, its description requests the call, and `warnings` says so.
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
    warnings.push(`responseFormat ${format.type}: ${request.model.id} cannot be made to answer in this form, it is only asked to`)
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
