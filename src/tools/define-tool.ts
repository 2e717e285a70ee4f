import { ConfigError } from '../contract/errors.ts'
import type { JsonObject, JsonSchema } from '../contract/json.ts'
import { foreignTool } from '../contract/shape/foreign-names.ts'
import { kindOf } from '../contract/shape/json-fault.ts'
import { checkOptions } from '../contract/shape/read.ts'
import {
  aFlag,
  aFunction,
  anObject,
  anything,
  aPositiveNumber,
  aSchema,
  aText,
  either,
  options as optionsOf,
  required,
} from '../contract/shape/shape.ts'
import { isToolName } from '../contract/tool/tool-result.ts'
import type { ApprovalInfo, ApprovalRule } from '../types/run/question.ts'
import type { SchemaInput, SchemaOutput, StandardSchema } from '../types/standard-schema.ts'
import type { AgentTool, ToolContext, ToolOutput, ToolParameters } from '../types/tool/tool.ts'
import type { DefinedTool } from '../types/tool/typed-tool.ts'
import { enforceableAs } from '../validation/enforceable-schema.ts'
import { isStandardSchema, toolJsonSchema } from '../validation/tool-parameters.ts'

/** Options for `defineTool`: an `AgentTool` with typed arguments. */
export interface ToolOptions<Parameters extends ToolParameters, Args, Name = string, Result = unknown, Context = unknown> {
  /** Name that the model calls: `[a-zA-Z0-9_-]{1,64}`. */
  name: Name
  /** Name for user interfaces. Default: `name`. */
  label?: string
  /** Description for the model: what the tool does and when to use it. */
  description: string
  parameters: Parameters
  /** JSON Schema for the model, when `parameters` is a Standard Schema that cannot produce one (valibot, zod/mini). */
  jsonSchema?: JsonSchema
  /**
   * Requires an approval always, or depending on the arguments. Only `false` skips the approval. A function receives a copy of the
   * arguments.
   */
  needsApproval?: boolean | ((args: Args, info: ApprovalInfo<Context>) => boolean | Promise<boolean>)
  /** Whether running the same call twice has the same effect as running it once. */
  idempotent?: boolean
  /** Timeout in milliseconds. Overrides the agent's `toolTimeoutMs`. */
  timeoutMs?: number
  /**
   * Whether the tool stops soon after its signal aborts. The loop then waits up to three seconds for the result. Set it for tools that run
   * loops or processes.
   */
  endsOnAbort?: boolean
  /**
   * Runs the call. The returned or resolved value is converted to JSON: see {@link ToolOutput}. `ctx: ToolContext<Tenant>` declares that
   * prompts must pass a `Tenant` as `context`.
   */
  execute(args: Args, ctx: ToolContext<Context>): Result
}

/** Values that JSON cannot represent, or represents as an empty object. */
type Unshown = bigint | symbol | ((...args: never) => unknown) | ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>

/** Members of `Result` that JSON cannot represent. `never` for `any`. */
type UnshownIn<Result> = 0 extends 1 & Result ? never : Extract<Result, Unshown>

/** Turns a result that JSON cannot represent into a compile error with a readable message. */
type JsonOnly<Result> = [UnshownIn<Awaited<Result>>] extends [never]
  ? unknown
  : { execute(...args: never): 'execute returns a value that is not JSON: return text, a JSON value, or { content }.' }

/** Arguments of `execute`: the output type of a Standard Schema, or the type argument. */
type ArgsOf<Schema, Args> = Schema extends StandardSchema ? SchemaOutput<Schema> : Args

/** Arguments in the form that callers pass. */
type InputOf<Schema, Args> = Schema extends StandardSchema ? SchemaInput<Schema> : Args

/**
 * Creates a tool. The Standard Schema determines the argument type. For a JSON Schema, pass the type: `defineTool<{ path: string }>(…)`.
 *
 * **Contract**
 * - `execute` receives validated arguments. The model gets the returned value or thrown error.
 * - Throws `ConfigError` `invalidTool` for an invalid name, a missing description, or an option that is unknown or has the wrong type.
 *   Also throws it if `parameters` is not an object schema or has no JSON Schema.
 * - Throws `ConfigError` `unsupportedSchema` for a raw JSON Schema with a keyword that cannot be enforced (see `enforceableSchema`).
 *
 * Source: docs/concepts/tools.md
 *
 * @example
 * const add = defineTool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   parameters: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => String(a + b),
 * })
 */
export function defineTool<
  Args extends object = JsonObject,
  const Name extends string = string,
  Result = unknown,
  Schema extends ToolParameters = JsonSchema,
  Context = unknown,
>(
  options: ToolOptions<Schema, ArgsOf<Schema, Args>, Name, Result, Context> & JsonOnly<Result>,
): DefinedTool<Name, InputOf<Schema, Args>, Awaited<Result>, Context>
export function defineTool<Args>(options: ToolOptions<ToolParameters, Args>): AgentTool {
  checkTool(options)
  const { needsApproval, execute, ...rest } = options
  const tool: AgentTool = {
    ...rest,
    label: options.label ?? options.name,
    // The loop passes the output of `parameters`, which is an `Args`. The erased type does not express this.
    execute: (args, ctx) => execute.call(options, args as Args, ctx),
    ...(needsApproval === undefined ? {} : { needsApproval: eraseApproval(needsApproval) }),
  }
  const schema = toolJsonSchema(tool)
  if (!isStandardSchema(tool.parameters)) enforceableAs(`Tool "${tool.name}"`, schema)
  return tool
}

function eraseApproval<Args>(ask: boolean | ((args: Args, info: ApprovalInfo) => boolean | Promise<boolean>)): ApprovalRule {
  // Like `execute`, `needsApproval` receives only validated arguments.
  return typeof ask === 'function' ? (args, info) => ask(args as Args, info) : ask
}

const toolOptions = optionsOf<ToolOptions<ToolParameters, never>>({
  // Checked below, with error messages specific to tools.
  name: anything,
  description: anything,
  execute: anything,
  label: aText,
  parameters: required(aSchema),
  jsonSchema: anObject,
  needsApproval: either(aFlag, aFunction),
  idempotent: aFlag,
  timeoutMs: aPositiveNumber,
  endsOnAbort: aFlag,
})

function checkTool(options: ToolOptions<ToolParameters, never>): void {
  assertNamed(options, 'What defineTool got')
  const { name } = options
  checkOptions(options, toolOptions, `Tool "${name}"`, 'invalidTool')
  if (typeof options.execute !== 'function') throw new ConfigError('invalidTool', `Tool "${name}" needs an execute function.`)
}

/**
 * Throws `ConfigError` `invalidTool` if the tool name in `options` is invalid or the description is missing. `what` names the option in
 * the message.
 */
export function assertNamed(options: Pick<ToolOptions<ToolParameters, never>, 'name' | 'description'>, what: string): void {
  if (typeof options !== 'object' || options === null) checkOptions(options, toolOptions, '', 'invalidTool')
  const foreign = foreignTool(options, what)
  if (foreign !== undefined) throw new ConfigError('invalidTool', foreign)
  const { name, description } = options
  if (!isToolName(name)) {
    throw new ConfigError(
      'invalidTool',
      `Invalid tool name ${typeof name === 'string' ? JSON.stringify(name) : kindOf(name)}: use 1 to 64 letters, digits, "_" or "-".`,
    )
  }
  if (typeof description !== 'string' || description.trim() === '') {
    throw new ConfigError('invalidTool', `Tool "${name}" needs a description, which tells the model when to use it.`)
  }
}
