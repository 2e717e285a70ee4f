import { content } from '../message/content.ts'
import { aFlag, aText, type FieldsOf, json, kind, listOf, object, oneOf, optional, type ShapeOf } from '../shape/shape.ts'

/** Maximum length of a tool name. No provider accepts longer names. */
export const maxToolName = 64

/** Returns whether a tool name is valid: 1 to 64 letters, digits, "_" or "-". Codecs map names that a provider rejects. */
export function isToolName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= maxToolName && /^[a-zA-Z0-9_-]+$/.test(name)
}

/** Removes invalid characters from a tool name. The result may be empty or too long. */
export function asToolName(text: string): string {
  return text.replace(/[^a-zA-Z0-9_-]+/g, '_')
}

/** A tool name. */
export const toolName: ShapeOf<string> = kind(`a name of 1 to ${maxToolName} letters, digits, "_" or "-"`, isToolName)

/** Outcome of an error result that is not a failure. `unknown`: the process ended during the call. */
export const callOutcome = oneOf('unknown')

/** Keys of a `ToolResult`. */
export const toolResultFields = {
  content: listOf(content),
  details: optional(json),
  /** True if the call failed and the model should see the error. Equivalent to throwing an error. */
  isError: optional(aFlag),
  /** Id of the loop that a sub-agent ran. */
  childLoopId: optional(aText),
  /** Names of searchable tools to offer the model, starting with its next turn. */
  offers: optional(listOf(aText)),
  /** Ends the run as completed after all calls of the turn. */
  endRun: optional(aFlag),
}

/** A tool's result. `content` goes to the model, `details` only to the application. Source: docs/concepts/tools.md */
export interface ToolResult extends FieldsOf<typeof toolResultFields> {}
export const toolResult: ShapeOf<ToolResult> = object<ToolResult>(toolResultFields)
