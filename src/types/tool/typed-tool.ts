import type { JsonObject, JsonOf, JsonValue } from '../../contract/json.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { AgentTool, ToolOutput } from './tool.ts'

/** Input and output types of a tool. */
export interface ToolTypes {
  input: unknown
  output: unknown
}

/** Tool types by name. */
export type ToolTypesByName = Record<string, ToolTypes>

/** A tool with typed name, arguments and result, created by `defineTool`. Source: docs/concepts/tools.md */
export interface DefinedTool<Name extends string = string, Input = JsonObject, Output = ToolOutput, Context = unknown>
  extends AgentTool<Context> {
  readonly name: Name
  /** Phantom property for type inference. Never set at runtime. */
  readonly '~types'?: { input: Input; output: OutputOf<Output> }
}

/** Result type in a client: `details` of a returned `ToolResult`, or the JSON of the returned value. A scalar may arrive as text. */
export type OutputOf<Returned> = Returned extends ToolResult
  ? Returned extends { details: infer Details }
    ? JsonOf<Details>
    : JsonValue
  : Returned extends number | boolean | null
    ? Returned | string
    : JsonOf<Returned>

/** Maps tool names to tool types. */
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
