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

/** What `sharedState` takes: the rules of the state, and what it begins with. */
export interface SharedStateOptions<Schema, State> {
  /** What every version must be: a Standard Schema (zod 4, valibot, …) or a JSON Schema of an object. */
  schema: Schema
  /** What a session begins with. */
  initial: State
  /** Characters of JSON that it may have. Default 262,144. */
  maxChars?: number
}

/** The rules, and how a tool gets at the state under its type. */
export interface SharedStateDefinition<State extends JsonObject> extends SharedStateRules<State> {
  /** The state of the session in which this call runs. Throws `ConfigError` `unsupported` where its agent was made without these rules. */
  of(ctx: Pick<ToolContext, 'sharedState'>): SharedState<State>
}

const defaultMaxChars = 262_144
/** Operations that one patch may have. */
const maxOperations = 1000
/** Characters of a patch that is told as one, also where all of the state would be shorter. */
const shortPatch = 1000
/** What clients of AG-UI hold the version in. */
const reservedName = '$version'

const optionTable = optionsOf<SharedStateOptions<unknown, JsonObject>>({
  schema: required(aSchema),
  initial: required(aJsonObject),
  maxChars: wholeFrom(2),
})

/**
 * Says what JSON the sessions of an agent share with their pages.
 *
 * **Contract**
 * - Every version is an object that fits `schema`, JSON of at most `maxChars` characters, and has no key `__proto__`, `constructor` or `prototype`, nor `$version` at its root. A schema that
 *   transforms is asked whether a value fits; what it makes of it is not taken.
 * - Throws `ConfigError` `invalidOption` for wrong options, and for an `initial` that is no such value, as far as can be said before a schema was loaded; `unsupportedSchema` for one that cannot be enforced.
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
    // A schema of somebody else gets a copy: it may change what it is shown.
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
      throw new ConfigError('unsupported', 'This call has no shared state: give its agent the option sharedState.')
    },
  }
}

function changedBy(current: JsonObject, given: readonly PatchOperation[], maxChars: number): JsonValue {
  const operations = readPatch(given)
  if (operations.length > maxOperations) throw invalid(`the patch has ${operations.length} operations; ${maxOperations} are allowed`)
  try {
    // As much as the state may have at most, once more: what is replaced made room.
    return patchedBy(current, operations, 2 * maxChars)
  } catch (error) {
    throw error instanceof PatchFault ? invalid(error.message) : error
  }
}

/** A copy of `value` as it may stand in a session. */
function plain(value: unknown, maxChars: number, code: 'invalidOption' | 'invalidState'): JsonObject {
  const fault = jsonFault(value, 'state') ?? nameFault(value, maxChars)
  if (fault !== undefined) throw invalid(fault, code)
  const text = JSON.stringify(value)
  if (text.length > maxChars) throw invalid(`it has ${text.length} characters of JSON; ${maxChars} are allowed`, code)
  // Through JSON: without what is undefined, which no log could bring back.
  return JSON.parse(text)
}

function nameFault(value: unknown, most: number): string | undefined {
  if (!isPlainObject(value)) return 'it must be an object'
  if (Object.hasOwn(value, reservedName)) return `"${reservedName}" at its root is taken: pages keep the version there`
  const left: object[] = [value]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const unsafe = Array.isArray(next) ? undefined : unsafeNames.find((name) => Object.hasOwn(Object(next), name))
    if (unsafe !== undefined) return `it has a key "${unsafe}", which no state may have`
    for (const part of Object.values(next)) if (typeof part === 'object' && part !== null) left.push(part)
    if (left.length > most) return 'it has too many parts'
  }
  return undefined
}
