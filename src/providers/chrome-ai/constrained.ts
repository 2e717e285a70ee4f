import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import type { ToolCallContent } from '../../contract/message/content.ts'
import type { ToolDefinition } from '../../contract/model/request.ts'
import type { ToolChoice } from '../../contract/model/request-settings.ts'

/** Response format for a model without native tool calls. */
export interface ConstrainedForm {
  schema: JsonSchema
  /** Instructions that describe the format and the tools to the model. */
  guide: string
}

/** Keys for the text and a response's calls. */
export const sayName = 'say'
export const callsName = 'calls'

/**
 * Returns the format of responses with calls: `{ say, calls: [{ name, arguments }] }`. If a response format was requested, `answer` is the
 * schema of `say`, which the model may omit until the final response.
 */
export function constrainedForm(tools: readonly ToolDefinition[], choice: ToolChoice | undefined, answer?: JsonSchema): ConstrainedForm {
  const named = typeof choice === 'object' && 'tool' in choice ? [choice.tool] : typeof choice === 'object' ? choice.allowed : undefined
  const allowed = named === undefined ? tools : tools.filter(({ name }) => named.includes(name))
  const mustCall = choice === 'required' || (typeof choice === 'object' && ('tool' in choice || choice.mode === 'required'))
  const call = ({ name, parameters }: ToolDefinition): JsonObject => ({
    type: 'object',
    properties: { name: { const: name }, arguments: parameters as JsonObject }, // The type does not express that a JSON Schema is JSON.
    required: ['name', 'arguments'],
    additionalProperties: false,
  })
  const schema: JsonObject = {
    type: 'object',
    properties: {
      [sayName]: answer === undefined ? { type: 'string' } : { anyOf: [answer as JsonObject, { type: 'null' }] }, // As above.
      [callsName]: { type: 'array', items: { anyOf: allowed.map(call) }, ...(mustCall && { minItems: 1 }) },
    },
    required: [sayName, callsName],
    additionalProperties: false,
  }
  return { schema, guide: guideTo(allowed) }
}

function guideTo(tools: readonly ToolDefinition[]): string {
  const list = tools.map(({ name, description, parameters }) => `- ${name}: ${description}\n  arguments: ${JSON.stringify(parameters)}`)
  return [
    'You can use tools. Respond with JSON: {"say": your message to the user, "calls": the tools you need now}.',
    'Leave "calls" empty when you can answer. The next message contains the results of calls; do not invent them.',
    'Tools:',
    ...list,
  ].join('\n')
}

/** Formats an earlier response. */
export function constrainedAnswer(say: string, calls: readonly ToolCallContent[]): string {
  return JSON.stringify({ [sayName]: say, [callsName]: calls.map(({ name, arguments: args }) => ({ name, arguments: args })) })
}
