import type { JsonObject, JsonValue } from '../../contract/json.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { AgentTool, ToolOutput } from './tool.ts'

/** Input and output types of a tool. */
export interface ToolTypes {
  input: unknown
  output: unknown
}

/** Types of tools by name. */
export type ToolTypesByName = Record<string, ToolTypes>

/** A tool with the types of its name, arguments and result, as `defineTool` creates it. Source: docs/concepts/tools.md */
export interface DefinedTool<Name extends string = string, Input = JsonObject, Output = ToolOutput> extends AgentTool {
  readonly name: Name
  /** Phantom property for type inference; never set at runtime. */
  readonly '~types'?: { input: Input; output: OutputOf<Output> }
}

/** Type of a result in a client: `details` of a returned `ToolResult`, or the JSON of the returned value. A scalar may arrive as text. */
export type OutputOf<Returned> = Returned extends ToolResult
  ? Returned extends { details: infer Details }
    ? JsonOf<Details>
    : JsonValue
  : Returned extends number | boolean | null
    ? Returned | string
    : JsonOf<Returned>

/** Type of a value after a JSON round trip: a `Date` becomes a string. */
export type JsonOf<Value> = 0 extends 1 & Value
  ? Value
  : Value extends { toJSON(...args: never): infer Json }
    ? Json
    : Value extends object
      ? { [Key in keyof Value]: JsonOf<Value[Key]> }
      : Value

/** Types of these tools by name. */
export type TypesOfTools<Tool extends AgentTool> = {
  [T in Tool as T['name']]: T extends { readonly '~types'?: (infer Types extends ToolTypes) | undefined } ? Types : ToolTypes
}

/**
 * Infers the input and output types of an agent's tools, or of a list of tools, by name. Use it in a client of a remote session:
 * `useAgent<InferTools<typeof agent>>(session)`.
 *
 * Source: docs/guides/frameworks.md
 */
export type InferTools<Source> = Source extends readonly (infer Tool extends AgentTool)[]
  ? TypesOfTools<Tool>
  : Source extends { readonly '~tools'?: (infer Types extends ToolTypesByName) | undefined }
    ? Types
    : ToolTypesByName
