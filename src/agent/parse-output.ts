import { logWarning } from '../base/log-warning.ts'
import { extractJson } from '../context/extract-json.ts'
import { errorText, ProviderError } from '../contract/errors.ts'
import type { JsonSchema, JsonValue } from '../contract/json.ts'
import type { AgentMessage, Message } from '../contract/message/message.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { anObject, aSchema, options as optionsOf, withMethods } from '../contract/shape/shape.ts'
import type { LoopConfig } from '../loop/loop-config.ts'
import type { ResponseFormatInput } from '../types/model/provider.ts'
import type { OutputError, OutputIssue, RunResult } from '../types/run/run.ts'
import type { SchemaIssue, SchemaOutput, SchemaValidator, StandardSchema } from '../types/standard-schema.ts'
import { formatIssues, formatPath } from '../validation/format-issues.ts'
import { type JsonCheck, jsonSchemaValidator } from '../validation/json-schema-validator.ts'
import { answerSchemaOf, holderOf } from '../validation/response-format.ts'
import { unwrapped, withoutNulls } from '../validation/response-shape.ts'
import { isStandardSchema } from '../validation/tool-parameters.ts'

/** Options for JSON Schemas. */
export interface ParseOutputOptions {
  /** Default: the built-in interpreter, loaded on first use. */
  schemaValidator?: SchemaValidator
}

/** Agent settings that affect output validation. */
type OutputSettings = Pick<LoopConfig, 'schemaValidator' | 'logger'>

const parseOptions = optionsOf<ParseOutputOptions>({ schemaValidator: withMethods('a schema validator', 'compile') })

/**
 * Parses the response of a run or message and validates it against `schema`.
 *
 * **Contract**
 * - A Standard Schema validates and may transform. It determines the result type. A JSON Schema only validates: `parseOutput<Weather>(…)`
 *   sets the type.
 * - Parses a run's last response.
 * - Rejects with `ProviderError` `schemaMismatch` if there is no response, or it is not JSON (see {@link extractJson}) or violates the
 *   schema. The error message lists one issue per line.
 * - Rejects with `ConfigError` for an unenforceable JSON Schema, and with `LoadError` if the interpreter cannot be loaded.
 *
 * Source: docs/guides/structured-output.md
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
  const result = await checkAnswer(schema, extractJson('role' in from ? from : lastAnswer(from)), options)
  if (result.issues === undefined) return result.value
  throw new OutputMismatch(result.issues)
}

/** A response that violates its schema. */
class OutputMismatch extends ProviderError {
  readonly issues: OutputIssue[]

  constructor(issues: readonly SchemaIssue[]) {
    super('schemaMismatch', `The response does not match its schema:\n${formatIssues(issues, 'answer')}`)
    this.issues = issues.map(({ path = [], message }) => ({ path: formatPath(path), message }))
  }
}

/** Adds the parsed `output` to a result. Never rejects: on a mismatch, sets `outputError` and logs one warning. */
export function outputReader(
  format: ResponseFormatInput,
  { schemaValidator, logger }: OutputSettings,
): ((result: RunResult) => Promise<RunResult>) | undefined {
  if (!isStandardSchema(format) && format.type === 'text') return undefined
  return async (result) => {
    const { status, stopReason, runId, loopId } = result
    if (status !== 'completed') return result
    try {
      return { ...result, output: await outputOf(result, format, { ...(schemaValidator && { schemaValidator }) }) }
    } catch (error) {
      const isExplained = stopReason === 'length' || stopReason === 'guardRail'
      const hint = 'result.output is absent; result.outputError says why. repair: 1 asks the model once more.'
      if (!isExplained) logWarning(logger, 'outputMismatch', { runId, loopId, message: errorText(error), hint })
      return { ...result, outputError: outputErrorOf(error, result.text) }
    }
  }
}

function outputErrorOf(error: unknown, text: string): OutputError {
  return { message: errorText(error), issues: error instanceof OutputMismatch ? error.issues : [], text }
}

function outputOf(from: RunResult | AgentMessage, format: ResponseFormatInput, options: ParseOutputOptions): Promise<unknown> {
  if (isStandardSchema(format)) return parseOutput(from, format)
  return parseOutput(from, answerSchemaOf(format) ?? { type: 'object' }, options)
}

/**
 * Returns a response's issues as text for the model, or `undefined` if valid. Never rejects: if the check itself fails, the end of the run
 * reports the error.
 */
export function answerCheck(
  format: ResponseFormatInput,
  { schemaValidator }: OutputSettings,
): (message: AgentMessage) => Promise<string | undefined> {
  return async (message) => {
    try {
      await outputOf(message, format, { ...(schemaValidator && { schemaValidator }) })
      return undefined
    } catch (error) {
      return ProviderError.isInstance(error) && error.code === 'schemaMismatch' ? error.message : undefined
    }
  }
}

function lastAnswer({ messages, status, error, rejection }: RunResult): AgentMessage {
  const answer = messages.findLast((message) => message.role === 'assistant')
  if (answer !== undefined) return answer
  const reason = error?.message ?? rejection
  throw new ProviderError(
    'schemaMismatch',
    `The run ended with status ${status} and no response${reason === undefined ? '.' : `: ${reason}`}`,
  )
}

/** Validates a response. If that fails, removes nulls of optional properties, which strict-schema providers send, and validates again. */
async function checkAnswer(
  schema: StandardSchema | JsonSchema,
  answer: JsonValue,
  options: ParseOutputOptions,
): Promise<Awaited<ReturnType<JsonCheck>>> {
  const json = holderOf(schema) === undefined ? answer : unwrapped(answer)
  const validator = options.schemaValidator ?? jsonSchemaValidator
  const check: JsonCheck = isStandardSchema(schema) ? (value) => schema['~standard'].validate(value) : validator.compile(schema)
  const whole = await check(json)
  if (whole.issues === undefined) return whole
  const sparse = withoutNulls(json, whole.issues)
  const result = sparse === undefined ? whole : await check(sparse)
  return result.issues === undefined ? result : whole
}
