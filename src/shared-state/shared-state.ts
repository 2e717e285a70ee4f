import { jsonDiff } from '../base/json/json-diff.ts'
import { PatchFault, unsafeNames } from '../base/json/json-patch.ts'
import { copyJson } from '../base/json/json-value.ts'
import { ConfigError } from '../contract/errors.ts'
import type { JsonObject, JsonSchema, JsonValue } from '../contract/json.ts'
import type { PatchOperation } from '../contract/session/shared-state.ts'
import { isPlainObject, jsonFault } from '../contract/shape/json-fault.ts'
import { checkOptions } from '../contract/shape/read.ts'
import { aJsonObject, aSchema, options as optionsOf, required, wholeFrom } from '../contract/shape/shape.ts'
import type { SharedState, SharedStateRules } from '../types/session/shared-state.ts'
import type { SchemaOutput, StandardSchema } from '../types/standard-schema.ts'
import type { ToolContext } from '../types/tool/tool.ts'
import { enforceableAs } from '../validation/enforceable-schema.ts'
import { formatIssues } from '../validation/format-issues.ts'
import { jsonSchemaValidator } from '../validation/json-schema-validator.ts'
import { isStandardSchema } from '../validation/tool-parameters.ts'
import { invalid, patchedBy, readPatch } from './apply-patch.ts'
import { SharedDocument, type VersionRules } from './shared-document.ts'

/** Options for `sharedState`: the rules of the state and its initial value. */
export interface SharedStateOptions<Schema, State> {
  /** Schema of every version: a Standard Schema (zod 4, valibot, …) or a JSON Schema of an object. */
  schema: Schema
  /** A session's initial state. */
  initial: State
  /** Maximum size as JSON, in characters. Default: 262,144. */
  maxChars?: number
}

/** Rules of a shared state, with typed access for tools. */
export interface SharedStateDefinition<State extends JsonObject> extends SharedStateRules<State> {
  /** Returns the shared state of the current session. Throws `ConfigError` `unsupported` if the agent has no `sharedState`. */
  of(ctx: Pick<ToolContext, 'sharedState'>): SharedState<State>
}

const defaultMaxChars = 262_144
/** Maximum operations per patch. */
const maxOperations = 1000
/** Maximum characters of a patch that is always sent as a patch, also if the full state is shorter. */
const shortPatch = 1000
/** Key that AG-UI clients use for the version. */
const reservedName = '$version'

const optionTable = optionsOf<SharedStateOptions<unknown, JsonObject>>({
  schema: required(aSchema),
  initial: required(aJsonObject),
  maxChars: wholeFrom(2),
})

/**
 * Defines the JSON state that the sessions of an agent share with their clients.
 *
 * **Contract**
 * - Every version is an object that fits `schema`, with at most `maxChars` characters of JSON. It has no key `__proto__`, `constructor`
 *   or `prototype`, and no `$version` at its root. The output of a schema with transforms is ignored: it only validates.
 * - Throws `ConfigError` `invalidOption` for wrong options and for an invalid `initial`, as far as it can be checked before the schema is
 *   loaded.
 * - Throws `ConfigError` `unsupportedSchema` for a schema that cannot be enforced.
 *
 * Source: docs/guides/shared-state.md
 *
 * @example
 * ```ts
 * const board = sharedState({ schema: z.object({ steps: z.array(z.string()) }), initial: { steps: [] } })
 * const agent = new Agent({ model, sharedState: board, tools: [plan] })
 * ```
 */
export function sharedState<Schema extends StandardSchema>(
  options: SharedStateOptions<Schema, SchemaOutput<Schema>>,
): SharedStateDefinition<SchemaOutput<Schema> & JsonObject>
export function sharedState<State extends JsonObject = JsonObject>(
  options: SharedStateOptions<JsonSchema, State>,
): SharedStateDefinition<State>
export function sharedState(options: SharedStateOptions<JsonSchema | StandardSchema, JsonObject>): SharedStateDefinition<JsonObject> {
  checkOptions(options, optionTable)
  const { schema, maxChars = defaultMaxChars } = options
  const initial = plain(options.initial, maxChars, 'invalidOption')
  const check = isStandardSchema(schema) ? schema['~standard'].validate : jsonSchemaValidator.compile(enforceableAs('schema', schema))
  const fitting = async (value: unknown): Promise<JsonObject> => {
    const next = plain(value, maxChars, 'invalidState')
    // External schema code gets a copy, because it may change its input.
    const { issues } = await check(copyJson(next))
    if (issues !== undefined) throw invalid(`it does not fit the schema: ${formatIssues(issues, 'state')}`)
    return next
  }
  const rules: VersionRules = {
    initial,
    checked: fitting,
    patched: async (current, operations) => fitting(changedBy(current, operations, maxChars)),
    diff: (before, after) => {
      const steps = jsonDiff(before, after)
      const { length } = JSON.stringify(steps)
      return length > shortPatch && length > JSON.stringify(after).length ? undefined : steps
    },
  }
  return {
    initial,
    begin: (recorder) => new SharedDocument(rules, recorder),
    of: ({ sharedState: state }) => {
      if (state !== undefined) return state
      throw new ConfigError('unsupported', 'This call has no shared state. Pass sharedState to its agent.')
    },
  }
}

function changedBy(current: JsonObject, given: readonly PatchOperation[], maxChars: number): JsonValue {
  const operations = readPatch(given)
  if (operations.length > maxOperations)
    throw invalid(`the patch has ${operations.length} operations, but at most ${maxOperations} are allowed`)
  try {
    // Twice the limit, because replaced parts made room.
    return patchedBy(current, operations, 2 * maxChars)
  } catch (error) {
    throw error instanceof PatchFault ? invalid(error.message) : error
  }
}

/** Returns a JSON copy of `value`, or throws if it is not valid as state. */
function plain(value: unknown, maxChars: number, code: 'invalidOption' | 'invalidState'): JsonObject {
  const fault = jsonFault(value, 'state') ?? nameFault(value, maxChars)
  if (fault !== undefined) throw invalid(fault, code)
  const text = JSON.stringify(value)
  if (text.length > maxChars) throw invalid(`it has ${text.length} characters of JSON, but at most ${maxChars} are allowed`, code)
  // Drop `undefined` values, which a log cannot restore.
  return JSON.parse(text)
}

function nameFault(value: unknown, most: number): string | undefined {
  if (!isPlainObject(value)) return 'it must be an object'
  if (Object.hasOwn(value, reservedName)) return `"${reservedName}" at its root is taken: pages keep the version there`
  const left: object[] = [value]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const unsafe = Array.isArray(next) ? undefined : unsafeNames.find((name) => Object.hasOwn(Object(next), name))
    if (unsafe !== undefined) return `it has a key "${unsafe}", which is not allowed`
    for (const part of Object.values(next)) if (typeof part === 'object' && part !== null) left.push(part)
    if (left.length > most) return 'it has too many parts'
  }
  return undefined
}
