import type { JsonSchema } from '../../../../contract/json.ts'
import type { ModelCapabilities } from '../../../../contract/model/model-config.ts'
import { answerToolName, type ToolDefinition } from '../../../../contract/model/request.ts'
import type { StreamRequest } from '../../../../types/model/provider.ts'
import { perObject } from '../../encode/json-pieces.ts'

export { answerToolName }

const description =
  'Gives the final answer. Its arguments are the answer: call it exactly once, when nothing else is left to do, and write no other text.'

const openObject: JsonSchema = { type: 'object', additionalProperties: true }

const answerTool = perObject((schema: JsonSchema): ToolDefinition => ({ name: answerToolName, description, parameters: schema }))

/** Lists of tools with the answer tool behind them; the same list each time, so that encoded forms are found again. */
const extendedTools = perObject((tools: readonly ToolDefinition[]) =>
  perObject((schema: JsonSchema): readonly ToolDefinition[] => [...tools, answerTool(schema)]),
)

/** What a service can do about the form of an answer by itself. */
export interface NativeFormats {
  /** It has a mode for any JSON object. */
  jsonObject: boolean
  /** It can be held to this very schema. */
  jsonSchema: boolean
  /** It refuses a forced tool while it thinks (Anthropic's models, wherever they are served). */
  forcingStopsThinking: boolean
}

/** A request whose answer is taken by a tool. */
export interface AnswerByTool {
  /** To be encoded instead: with the answer tool behind the others, and without thinking where that would forbid to force it. */
  request: StreamRequest
  /** What the service must be made to call: this tool, any tool (the others may come first), or nothing because it refuses to be made to. */
  force: 'answer' | 'any' | 'none'
  /** To be given to the `AssistantBuilder`: the call of this tool becomes the text of the answer. */
  answerTool: typeof answerToolName
}

/**
 * How `request` gets its answer format where the service has none of its own; `undefined` when nothing needs to be done.
 *
 * **Contract**
 * - The answer tool alone is forced by name; beside other tools any tool is, so that the model can still use them. Either way the run ends
 *   with the one call of the answer tool, because the builder turns it into text that stopped with `stop`.
 * - Where forcing and thinking exclude each other, thinking is off for this call and `warnings` says so. Models that always think are
 *   forced as they are.
 * - Where a tool cannot be forced, its description asks for the call; `warnings` says so.
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
