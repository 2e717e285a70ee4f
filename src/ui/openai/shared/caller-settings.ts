import { isJsonObject, type JsonObject, type JsonValue, ownOf } from '../../../contract/json.ts'
import type { ClientSettings } from '../../../contract/model/model-config.ts'
import { refuse, refuseUnsupported } from './caller-fault.ts'

/** A requested setting: the phi-core name, and the request field. */
export interface CallerSetting {
  name: keyof ClientSettings
  param: string
  value: JsonValue
}

/** The setting for a request field. Ignores OpenAI's default values, because many clients always send them. */
interface SettingField {
  name: keyof ClientSettings
  /** Default values, which are ignored. */
  defaults?: readonly JsonValue[]
  /** Converts the value. */
  as?: (value: JsonValue, param: string) => JsonValue
}

/** Settings by request field. Nested fields use dots: `reasoning.effort`. */
export type SettingFields = Readonly<Record<string, SettingField>>

/** Ignores `none`, which clients send for unknown models. */
const effort: SettingField = { name: 'thinking', defaults: ['none'] }

/** Settings with the same names in both of OpenAI's APIs. */
const sharedSettings: SettingFields = {
  temperature: { name: 'temperature', defaults: [1] },
  top_p: { name: 'topP', defaults: [1] },
  parallel_tool_calls: { name: 'parallelToolCalls', defaults: [true] },
  tool_choice: { name: 'toolChoice', defaults: ['auto'], as: toolChoiceOf },
  service_tier: { name: 'serviceTier', defaults: ['auto', 'default'] },
}

export const chatSettings: SettingFields = {
  ...sharedSettings,
  max_tokens: { name: 'maxTokens' },
  max_completion_tokens: { name: 'maxTokens' },
  stop: { name: 'stopSequences', defaults: [[]], as: (value) => (typeof value === 'string' ? [value] : value) },
  seed: { name: 'seed' },
  frequency_penalty: { name: 'frequencyPenalty', defaults: [0] },
  presence_penalty: { name: 'presencePenalty', defaults: [0] },
  reasoning_effort: effort,
  verbosity: { name: 'verbosity', defaults: ['medium'] },
}

export const responseSettings: SettingFields = {
  ...sharedSettings,
  max_output_tokens: { name: 'maxTokens' },
  'reasoning.effort': effort,
  'reasoning.summary': { name: 'thinkingSummary', defaults: ['auto'] },
  'text.verbosity': { name: 'verbosity', defaults: ['medium'] },
}

/** Returns the requested settings in `body`. Rejects an invalid tool choice. */
export function settingsIn(body: JsonObject, fields: SettingFields): CallerSetting[] {
  return Object.entries(fields).flatMap(([param, { name, defaults = [], as }]) => {
    const value = valueAt(body, param)
    if (value === undefined || value === null) return []
    const isDefault = defaults.some((each) => JSON.stringify(each) === JSON.stringify(value))
    return isDefault ? [] : [{ name, param, value: as === undefined ? value : as(value, param) }]
  })
}

function valueAt(body: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = body
  for (const name of path.split('.')) {
    if (!isJsonObject(value)) return undefined
    value = ownOf(value, name)
  }
  return value
}

/** Converts `"none"`, `"required"`, or one function. Chat Completions nests the name in `function`; Responses puts it next to `type`. */
function toolChoiceOf(value: JsonValue, param: string): JsonValue {
  if (typeof value === 'string') return value
  if (!isJsonObject(value)) return refuse(param, `${param} must be a string or an object.`)
  const named = Object(value.function).name ?? value.name
  if (value.type === 'function' && typeof named === 'string') return { tool: named }
  return refuseUnsupported(param, 'Choose "auto", "none", "required", or one function by its name.')
}

/** Unsupported fields, with the values to ignore and the reason for the rejection. */
export type UnsupportedFields = Readonly<Record<string, { defaults?: readonly JsonValue[]; why: string }>>

/** Rejects unsupported fields that have a non-default value. */
export function refuseAsked(body: JsonObject, fields: UnsupportedFields): void {
  for (const [param, { defaults = [], why }] of Object.entries(fields)) {
    const value = ownOf(body, param)
    if (value === undefined || value === null) continue
    if (!defaults.some((each) => JSON.stringify(each) === JSON.stringify(value))) refuseUnsupported(param, why)
  }
}
