import { content } from '../message/content.ts'
import { aFlag, aText, type FieldsOf, json, kind, listOf, object, oneOf, optional, type ShapeOf } from '../shape/shape.ts'

/** Characters of a tool's name at most: no service takes more. */
export const maxToolName = 64

/** Whether a tool may be called so: 1 to 64 letters, digits, "_" or "-", which every service takes or is given a spelling of its own for. */
export function isToolName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= maxToolName && /^[a-zA-Z0-9_-]+$/.test(name)
}

/** `text` with the characters of such a name alone; it may be empty, or too long. */
export function asToolName(text: string): string {
  return text.replace(/[^a-zA-Z0-9_-]+/g, '_')
}

/** The name of a tool. */
export const toolName: ShapeOf<string> = kind(`a name of 1 to ${maxToolName} letters, digits, "_" or "-"`, isToolName)

/** What is known of a call that has an error result without having failed. `unknown`: its process ended while it ran. */
export const callOutcome = oneOf('unknown')

/** The keys of a `ToolResult`. */
export const toolResultFields = {
  content: listOf(content),
  details: optional(json),
  /** True when the call failed in a way the model should see; a thrown error has the same effect. */
  isError: optional(aFlag),
  /** Loop that a sub-agent ran. */
  childLoopId: optional(aText),
  /** Names of tools that the model is offered from its next turn on, of those that wait to be found. */
  offers: optional(listOf(aText)),
  /** Ends the run as completed, once all calls of the turn have ended. */
  endRun: optional(aFlag),
}

/** What a tool gives back. `content` goes to the model, `details` to the application only. Source: docs/concepts/tools.md */
export interface ToolResult extends FieldsOf<typeof toolResultFields> {}
export const toolResult: ShapeOf<ToolResult> = object<ToolResult>(toolResultFields)
