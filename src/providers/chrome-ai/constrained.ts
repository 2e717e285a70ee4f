import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import type { ToolCallContent } from '../../contract/message/content.ts'
import type { ToolDefinition } from '../../contract/model/request.ts'
import type { ToolChoice } from '../../contract/model/request-settings.ts'

/** What is asked of a model that makes no calls of its own: an answer of this form. */
export interface ConstrainedForm {
  schema: JsonSchema
  /** Tells the model of the form and of its tools. */
  guide: string
}

/** Where the text of an answer stands, and where its calls. */
export const sayName = 'say'
export const callsName = 'calls'

/**
 * The form of an answer with calls: `{ say, calls: [{ name, arguments }] }`. `answer` is what `say` must be where an answer of another form is asked for;
 * before that the model may leave it out.
 */
export function constrainedForm(tools: readonly ToolDefinition[], choice: ToolChoice | undefined, answer?: JsonSchema): ConstrainedForm {
  const named = typeof choice === 'object' && 'tool' in choice ? [choice.tool] : typeof choice === 'object' ? choice.allowed : undefined
  const allowed = named === undefined ? tools : tools.filter(({ name }) => named.includes(name))
  const mustCall = choice === 'required' || (typeof choice === 'object' && ('tool' in choice || choice.mode === 'required'))
  const call = ({ name, parameters }: ToolDefinition): JsonObject => ({
    type: 'object',
    properties: { name: { const: name }, arguments: parameters as JsonObject }, // a JSON Schema is JSON
    required: ['name', 'arguments'],
    additionalProperties: false,
  })
  const schema: JsonObject = {
    type: 'object',
    properties: {
      [sayName]: answer === undefined ? { type: 'string' } : { anyOf: [answer as JsonObject, { type: 'null' }] }, // as above
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
    'You can use tools. Answer with JSON: {"say": what you say to the user, "calls": the tools you need now}.',
    'Leave "calls" empty when you can answer. The results of calls come in the next message; do not invent them.',
    'Tools:',
    ...list,
  ].join('\n')
}

/** An earlier answer in that form. */
export function constrainedAnswer(say: string, calls: readonly ToolCallContent[]): string {
  return JSON.stringify({ [sayName]: say, [callsName]: calls.map(({ name, arguments: args }) => ({ name, arguments: args })) })
}
