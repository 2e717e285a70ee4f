import { aJsonSchema, aText, type FieldsOf, fieldsOf, fixedListOf, type ShapeOf } from '../shape/shape.ts'

const declarationFields = {
  name: aText,
  /** For the model: what the tool does and when to use it. */
  description: aText,
  /** What it takes, as a JSON Schema of an object. */
  parameters: aJsonSchema,
}

/** A tool that a page brings along and runs. Source: docs/concepts/client-tools.md */
export interface ClientToolDeclaration extends FieldsOf<typeof declarationFields> {}
const clientToolDeclaration: ShapeOf<ClientToolDeclaration> = fieldsOf(declarationFields)

/** What a prompt may choose by name, of what the agent's `choices` list. */
export const choiceFields = {
  /** One of `choices.models`. Default: the agent's own. */
  model: aText,
  /** Those of `choices.tools` that are switched on. Default: none. */
  tools: fixedListOf(aText),
  /** Tools that the page brings along, of those that `choices.clientTools` names. */
  clientTools: fixedListOf(clientToolDeclaration),
}
