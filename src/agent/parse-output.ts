import { extractJson } from '../context/extract-json.ts'
import { ProviderError } from '../contract/errors.ts'
import type { JsonSchema, JsonValue } from '../contract/json.ts'
import type { AgentMessage, Message } from '../contract/message/message.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { anObject, aSchema, options as optionsOf, withMethods } from '../contract/shape/shape.ts'
import type { RunResult } from '../types/run/run.ts'
import type { SchemaOutput, SchemaValidator, StandardSchema } from '../types/standard-schema.ts'
import { formatIssues } from '../validation/format-issues.ts'
import { type JsonCheck, jsonSchemaValidator } from '../validation/json-schema-validator.ts'
import { isStandardSchema } from '../validation/tool-parameters.ts'

/** How an answer is checked against a JSON Schema. */
export interface ParseOutputOptions {
  /** Default: this package's own, whose interpreter is loaded when a schema first needs it. */
  schemaValidator?: SchemaValidator
}

const parseOptions = optionsOf<ParseOutputOptions>({ schemaValidator: withMethods('a schema validator', 'compile') })

/**
 * The answer of a run, or of one message, as the value that `schema` promises.
 *
 * **Contract**
 * - A Standard Schema checks and may transform; its type is the type of the result. A JSON Schema checks: `parseOutput<Weather>(…)` names
 *   the type.
 * - Of a run its last answer counts.
 * - Rejects with `ProviderError` `schemaMismatch` when there is no answer, when it is no JSON (see {@link extractJson}) and when it does not fit;
 *   the message then has one line per complaint. Rejects with `ConfigError` for a JSON Schema that cannot be enforced, and
 *   with `LoadError` when the interpreter cannot be had.
 *
 * Source: docs/concepts/structured-output.md
 *
 * @example
 * const weather = z.object({ city: z.string(), degrees: z.number() })
 * const { degrees } = await parseOutput(await agent.prompt('Oslo?', { responseFormat: weather }).result, weather)
 */
export function parseOutput<Schema extends StandardSchema>(
  from: RunResult | Message | AgentMessage,
  schema: Schema,
): Promise<SchemaOutput<Schema>>
export function parseOutput<Output = JsonValue>(
  from: RunResult | Message | AgentMessage,
  schema: JsonSchema,
  options?: ParseOutputOptions,
): Promise<Output>
export async function parseOutput(
  from: RunResult | Message | AgentMessage,
  schema: StandardSchema | JsonSchema,
  options: ParseOutputOptions = {},
): Promise<unknown> {
  checkOptions(from, anObject, 'from')
  checkOptions(schema, aSchema, 'schema')
  checkOptions(options, parseOptions)
  const json = extractJson('role' in from ? from : lastAnswer(from))
  const result = await checkAnswer(schema, json, options)
  if (result.issues === undefined) return result.value
  throw new ProviderError('schemaMismatch', `The answer does not fit its schema:\n${formatIssues(result.issues, 'answer')}`)
}

function lastAnswer({ messages, status, error, rejection }: RunResult): AgentMessage {
  const answer = messages.findLast((message) => message.role === 'assistant')
  if (answer !== undefined) return answer
  const reason = error?.message ?? rejection
  throw new ProviderError(
    'schemaMismatch',
    `The run ended with status ${status} and has no answer${reason === undefined ? '.' : `: ${reason}`}`,
  )
}

function checkAnswer(schema: StandardSchema | JsonSchema, json: JsonValue, options: ParseOutputOptions): ReturnType<JsonCheck> {
  if (isStandardSchema(schema)) return schema['~standard'].validate(json)
  const validator = options.schemaValidator ?? jsonSchemaValidator
  return validator.compile(schema)(json)
}
