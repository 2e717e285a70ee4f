import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { AgentTool, ToolOutput } from './tool.ts'

/** What a call of a tool takes and gives, for types alone. */
export interface ToolTypes {
  input: unknown
  output: unknown
}

/** The types of tools by their names. */
export type ToolTypesByName = Record<string, ToolTypes>

/** A tool whose name, arguments and result still have their types, as `defineTool` makes it. Source: docs/concepts/tools.md */
export interface DefinedTool<Name extends string = string, Input = JsonObject, Output = ToolOutput> extends AgentTool {
  readonly name: Name
  /** For types alone: it is never there. */
  readonly '~types'?: { input: Input; output: OutputOf<Output> }
}

/** What a page gets of a result: `details` if the tool returns a `ToolResult`, else the JSON of what it returned. A scalar may come as its text. */
export type OutputOf<Returned> = Returned extends ToolResult
  ? Returned extends { details: infer Details }
    ? JsonOf<Details>
    : JsonValue
  : Returned extends number | boolean | null
    ? Returned | string
    : JsonOf<Returned>

/** What comes back of a value that went through JSON: a `Date` is its text. */
export type JsonOf<Value> = 0 extends 1 & Value
  ? Value
  : Value extends { toJSON(...args: never): infer Json }
    ? Json
    : Value extends object
      ? { [Key in keyof Value]: JsonOf<Value[Key]> }
      : Value

/** The types of these tools by name. */
export type TypesOfTools<Tool extends AgentTool> = {
  [T in Tool as T['name']]: T extends { readonly '~types'?: (infer Types extends ToolTypes) | undefined } ? Types : ToolTypes
}

/**
 * The tools of an agent, or of a list of tools, as types: name, input and output. Give them to a page that shows a session on a server:
 * `useAgent<InferTools<typeof agent>>(session)`.
 *
 * Source: docs/guides/frameworks.md
 */
export type InferTools<Source> = Source extends readonly (infer Tool extends AgentTool)[]
  ? TypesOfTools<Tool>
  : Source extends { readonly '~tools'?: (infer Types extends ToolTypesByName) | undefined }
    ? Types
    : ToolTypesByName
