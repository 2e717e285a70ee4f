import { isJsonObject, type JsonObject, type JsonValue, ownOf } from '../../../contract/json.ts'
import type { ClientSettings } from '../../../contract/model/model-config.ts'
import { refuse, refuseUnsupported } from './caller-fault.ts'

/** A setting that a caller asks for: which of ours it is, and the field that says it. */
export interface CallerSetting {
  name: keyof ClientSettings
  param: string
  value: JsonValue
}

/** How a field says a setting. What is OpenAI's own default asks for nothing: many clients send it always. */
interface SettingField {
  name: keyof ClientSettings
  /** Values that ask for nothing. */
  defaults?: readonly JsonValue[]
  /** As ours is called. */
  as?: (value: JsonValue, param: string) => JsonValue
}

/** A field of a request, or of an object in it: `reasoning.effort`. */
export type SettingFields = Readonly<Record<string, SettingField>>

/** `none`, which clients send for models that they do not know, asks for nothing. */
const effort: SettingField = { name: 'thinking', defaults: ['none'] }

/** The settings that both of OpenAI's APIs have, under the names that both use. */
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

/** What a caller asks for in `body`. Refuses a choice of tools that there is not. */
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

/** `"none"`, `"required"`, or one function: in Chat Completions under `function`, in Responses beside its type. */
function toolChoiceOf(value: JsonValue, param: string): JsonValue {
  if (typeof value === 'string') return value
  if (!isJsonObject(value)) return refuse(param, `${param} must be a word or an object.`)
  const named = Object(value.function).name ?? value.name
  if (value.type === 'function' && typeof named === 'string') return { tool: named }
  return refuseUnsupported(param, 'Choose "auto", "none", "required", or one function by its name.')
}

/** Fields that nothing here can do, with the values that ask for nothing and what to do instead. */
export type UnsupportedFields = Readonly<Record<string, { defaults?: readonly JsonValue[]; why: string }>>

/** Refuses a field that asks for what nothing here can do. */
export function refuseAsked(body: JsonObject, fields: UnsupportedFields): void {
  for (const [param, { defaults = [], why }] of Object.entries(fields)) {
    const value = ownOf(body, param)
    if (value === undefined || value === null) continue
    if (!defaults.some((each) => JSON.stringify(each) === JSON.stringify(value))) refuseUnsupported(param, why)
  }
}
