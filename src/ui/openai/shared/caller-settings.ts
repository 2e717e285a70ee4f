import { isJsonObject, type JsonObject, type JsonValue, ownOf } from '../../../contract/json.ts'
import type { ClientSettings } from '../../../contract/model/model-config.ts'
import { refuse, refuseUnsupported } from './caller-fault.ts'

/** A requested setting: our name, and its field. */
export interface CallerSetting {
  name: keyof ClientSettings
  param: string
  value: JsonValue
}

/** The field of a setting. OpenAI's own default requests nothing, because many clients always send it. */
interface SettingField {
  name: keyof ClientSettings
  /** Values that request nothing. */
  defaults?: readonly JsonValue[]
  /** Our name of the setting. */
  as?: (value: JsonValue, param: string) => JsonValue
}

/** A request field, or one of a nested object: `reasoning.effort`. */
export type SettingFields = Readonly<Record<string, SettingField>>

/** `none`, which clients send for unknown models, requests nothing. */
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

/** `"none"`, `"required"`, or one function: in Chat Completions under `function`, in Responses next to its type. */
function toolChoiceOf(value: JsonValue, param: string): JsonValue {
  if (typeof value === 'string') return value
  if (!isJsonObject(value)) return refuse(param, `${param} must be a word or an object.`)
  const named = Object(value.function).name ?? value.name
  if (value.type === 'function' && typeof named === 'string') return { tool: named }
  return refuseUnsupported(param, 'Choose "auto", "none", "required", or one function by its name.')
}

/** Unsupported fields, with the values that request nothing and an alternative. */
export type UnsupportedFields = Readonly<Record<string, { defaults?: readonly JsonValue[]; why: string }>>

/** Rejects a field with an unsupported request. */
export function refuseAsked(body: JsonObject, fields: UnsupportedFields): void {
  for (const [param, { defaults = [], why }] of Object.entries(fields)) {
    const value = ownOf(body, param)
    if (value === undefined || value === null) continue
    if (!defaults.some((each) => JSON.stringify(each) === JSON.stringify(value))) refuseUnsupported(param, why)
  }
}
