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
import type { SchemaInput, SchemaOutput, StandardSchema } from '../types/standard-schema.ts'
import type { AgentTool, ToolContext, ToolOutput, ToolParameters } from '../types/tool/tool.ts'
import type { DefinedTool } from '../types/tool/typed-tool.ts'
import { enforceableAs } from '../validation/enforceable-schema.ts'
import { isStandardSchema, toolJsonSchema } from '../validation/tool-parameters.ts'

/** What `defineTool` takes: an `AgentTool` whose arguments still have their type. */
export interface ToolOptions<Parameters extends ToolParameters, Args, Name = string, Result = unknown> {
  /** What the model calls: `[a-zA-Z0-9_-]{1,64}`. */
  name: Name
  /** For people. Default: `name`. */
  label?: string
  /** For the model: what the tool does and when to use it. */
  description: string
  parameters: Parameters
  /** JSON Schema for the model, when `parameters` is a Standard Schema that cannot produce one (valibot, zod/mini). */
  jsonSchema?: JsonSchema
  /** Ask a person first: always, or as the arguments require. Only `false` does not ask; a function gets arguments of its own. */
  needsApproval?: boolean | ((args: Args) => boolean | Promise<boolean>)
  /** Running the same call twice does no harm. */
  idempotent?: boolean
  /** Milliseconds; overrides the agent's `toolTimeoutMs`. */
  timeoutMs?: number
  /** It ends soon after its signal: a call that is cut off waits up to three seconds for what it still has to say. For tools that run loops or processes. */
  endsOnAbort?: boolean
  /** What it returns, or a promise of that, becomes JSON: see {@link ToolOutput}. */
  execute(args: Args, ctx: ToolContext): Result
}

/** Values that JSON cannot hold, or of which it keeps nothing. */
type Unshown = bigint | symbol | ((...args: never) => unknown) | ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>

/** The values that a result may not be; nothing of `any`, which says nothing. */
type UnshownIn<Result> = 0 extends 1 & Result ? never : Extract<Result, Unshown>

/** Refuses such a result at `execute`, in words that the compiler shows. */
type JsonOnly<Result> = [UnshownIn<Awaited<Result>>] extends [never]
  ? unknown
  : { execute(...args: never): 'JSON cannot hold what execute returns: return text, a JSON value, or { content }.' }

/** What `execute` gets: what the Standard Schema makes, or the type that is given beside a JSON Schema. */
type ArgsOf<Schema, Args> = Schema extends StandardSchema ? SchemaOutput<Schema> : Args

/** What a caller of the tool passes. */
type InputOf<Schema, Args> = Schema extends StandardSchema ? SchemaInput<Schema> : Args

/**
 * Makes a tool. The type of the arguments comes from the Standard Schema, or is given beside a JSON Schema: `defineTool<{ path: string }>(…)`.
 *
 * **Contract**
 * - `execute` gets validated arguments; what it returns or throws is data for the model.
 * - Throws `ConfigError` at once: `invalidTool` for a bad name, a missing description, an option of a wrong type or an unknown one, a
 *   `needsApproval` that is no rule, parameters that are not an object schema or have no JSON Schema; `unsupportedSchema` for a raw JSON Schema with a keyword that cannot be enforced (see `enforceableSchema`).
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
>(
  options: ToolOptions<Schema, ArgsOf<Schema, Args>, Name, Result> & JsonOnly<Result>,
): DefinedTool<Name, InputOf<Schema, Args>, Awaited<Result>>
export function defineTool<Args>(options: ToolOptions<ToolParameters, Args>): AgentTool {
  checkTool(options)
  const { needsApproval, execute, ...rest } = options
  const tool: AgentTool = {
    ...rest,
    label: options.label ?? options.name,
    // The loop passes on what `parameters` accepted, which is an Args: only the erased type does not know.
    execute: (args, ctx) => execute.call(options, args as Args, ctx),
    ...(needsApproval === undefined ? {} : { needsApproval: eraseApproval(needsApproval) }),
  }
  const schema = toolJsonSchema(tool)
  if (!isStandardSchema(tool.parameters)) enforceableAs(`Tool "${tool.name}"`, schema)
  return tool
}

function eraseApproval<Args>(ask: boolean | ((args: Args) => boolean | Promise<boolean>)): NonNullable<AgentTool['needsApproval']> {
  // Asked about validated arguments only, as `execute` is.
  return typeof ask === 'function' ? (args) => ask(args as Args) : ask
}

const toolOptions = optionsOf<ToolOptions<ToolParameters, never>>({
  // Said in the words of tools below.
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

/** Throws `ConfigError` `invalidTool` for options of a tool, told as `what`, that have no name that a service takes, or no description. */
export function assertNamed(options: Pick<ToolOptions<ToolParameters, never>, 'name' | 'description'>, what: string): void {
  if (typeof options !== 'object' || options === null) checkOptions(options, toolOptions, '', 'invalidTool')
  const foreign = foreignTool(options, what)
  if (foreign !== undefined) throw new ConfigError('invalidTool', foreign)
  const { name, description } = options
  if (!isToolName(name)) {
    throw new ConfigError(
      'invalidTool',
      `Tool name ${typeof name === 'string' ? JSON.stringify(name) : kindOf(name)}: use 1 to 64 letters, digits, "_" or "-".`,
    )
  }
  if (typeof description !== 'string' || description.trim() === '') {
    throw new ConfigError('invalidTool', `Tool "${name}" needs a description: it is how the model knows when to use it.`)
  }
}
