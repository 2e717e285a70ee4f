import { ProviderError } from '../../../contract/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue, jsonObjectIn, ownOf, setOwnField } from '../../../contract/json.ts'
import type { ModelCapabilities } from '../../../contract/model/model-config.ts'
import {
  cannotBeSet,
  guardedFields,
  type RequestSettings,
  type SettingName,
  settingsIn,
  type ThinkingLevel,
  thinkingLevel,
} from '../../../contract/model/request-settings.ts'
import type { StreamRequest } from '../../../types/model/provider.ts'

/** Settings that map directly to request fields. Other settings depend on tools, thinking or the transport. */
const fieldSettings = [
  'temperature',
  'topP',
  'topK',
  'stopSequences',
  'seed',
  'frequencyPenalty',
  'presencePenalty',
  'verbosity',
  'serviceTier',
  'cacheTtl',
  'user',
] as const satisfies readonly SettingName[]
type FieldSetting = (typeof fieldSettings)[number]

/**
 * Rule for writing a setting: a field for its value, or a function that returns fields. If the function returns a string, it states why the
 * setting is not supported. `adjust` reports a changed value.
 */
type SettingRule<Value> = { field: string } | ((value: Value, adjust: (sentence: string) => void) => JsonObject | string)

/** A protocol's rules for each setting. The protocol has no field for settings without a rule. */
export type SettingRules = { readonly [Name in FieldSetting]?: SettingRule<NonNullable<RequestSettings[Name]>> | undefined }

/** Inputs for writing a request's settings. */
export interface SettingWriter {
  rules: SettingRules
  capabilities: ModelCapabilities
  /** Reason why sampling settings do not apply, such as `while it thinks`. */
  noSampling?: string | undefined
}

const sampling: ReadonlySet<SettingName> = new Set(['temperature', 'topP', 'topK'])

/**
 * Returns the body fields for the settings of `request`. Drops unsupported settings with a warning in `warnings`; with `strict`, throws
 * `ProviderError` `unsupported`.
 */
export function settingFieldsOf(request: StreamRequest, writer: SettingWriter, warnings: string[]): JsonObject {
  const fields: JsonObject = {}
  for (const name of fieldSettings) if (request[name] !== undefined) Object.assign(fields, fieldsOf(name, request, writer, warnings))
  return fields
}

function fieldsOf(
  name: FieldSetting,
  request: StreamRequest,
  { rules, capabilities, noSampling }: SettingWriter,
  warnings: string[],
): JsonObject | undefined {
  const value = request[name] as NonNullable<RequestSettings[FieldSetting]> // just checked
  const rule = rules[name] as SettingRule<typeof value> | undefined // rule of this setting
  const refusal = refusalOf(name, capabilities, noSampling)
  if (rule === undefined || refusal !== undefined) leaveOut(request, name, refusal, warnings)
  else if ('field' in rule)
    return { [rule.field]: value as JsonValue } // settings are JSON
  else {
    const outcome = rule(value, (sentence) => adjusted(request, `${name} ${sentence}`, warnings))
    if (typeof outcome !== 'string') return outcome
    leaveOut(request, name, outcome, warnings)
  }
  return undefined
}

function refusalOf(
  name: SettingName,
  { sampling: samples, refuses }: ModelCapabilities,
  noSampling: string | undefined,
): string | undefined {
  if (refuses?.includes(name)) return 'does not accept it'
  if (!sampling.has(name)) return undefined
  return samples ? noSampling && `does not accept it ${noSampling}` : 'does not accept it'
}

/**
 * Warns that the request omits `what`; with `strict`, fails the call. `why` is the model-specific reason. Default: the provider has no
 * field for it.
 */
export function leaveOut(request: StreamRequest, what: string, why: string | undefined, warnings: string[]): void {
  adjusted(request, `${what} left out: ${request.model.id} ${why ?? 'is called by a protocol that has no field for it'}`, warnings)
}

/** Warns that the request contains a changed value; with `strict`, fails the call. */
export function adjusted({ strict }: Pick<StreamRequest, 'strict'>, sentence: string, warnings: string[]): void {
  if (strict !== true) {
    warnings.push(sentence)
    return
  }
  throw new ProviderError('unsupported', `${sentence}. With strict, this is an error. Change the setting or choose another model.`, {
    hint: 'If the model supports it, set capabilities in the model factory.',
  })
}

/** Temperature rule for providers with a range of 0 to 1. */
export function upToOne(field: string): SettingRule<number> {
  return (value, adjust) => {
    if (value > 1) adjust(`lowered from ${value} to 1: the provider's maximum`)
    return { [field]: Math.min(1, value) }
  }
}

/** Rule for at most `most` stop sequences. */
export function stopTexts(field: string, most: number): SettingRule<readonly string[]> {
  return (texts, adjust) => {
    if (texts.length > most) adjust(`cut from ${texts.length} texts to the first ${most}: the provider's maximum`)
    return texts.length === 0 ? {} : { [field]: texts.slice(0, most) }
  }
}

/** Returns `request` with its model's default settings applied, or the same object if the model has none. */
export function withModelSettings(request: StreamRequest): StreamRequest {
  const { settings } = request.model
  if (settings === undefined) return request
  const { thinking: _level, ...of } = settings
  return { ...request, ...of, ...settingsIn(request) }
}

/** All providers' efforts, weakest first. Thinking levels have the same names. */
const ranks: readonly string[] = ['none', ...thinkingLevel.words.filter((level) => level !== 'off')]

/**
 * Returns the supported effort nearest to the thinking level of `request`, preferring a stronger one. Adds a warning for a weaker effort.
 * `undefined` leaves the choice to the model.
 */
export function effortFor(request: StreamRequest, { efforts, thinking }: ModelCapabilities, warnings: string[]): string | undefined {
  const { thinking: level, model } = request
  if (level === 'off') return efforts.includes('none') ? 'none' : thinking === 'alwaysOn' ? efforts[0] : undefined
  const wanted = ranks.indexOf(level)
  const known = efforts.filter((effort) => effort !== 'none')
  const effort = known.find((each) => ranks.indexOf(each) >= wanted) ?? known.at(-1)
  const isWeaker = effort !== undefined && ranks.indexOf(effort) < wanted
  if (isWeaker) adjusted(request, `thinking lowered from ${level} to ${effort}: ${model.id} knows no more`, warnings)
  return effort
}

/**
 * Tokens per level for models with a thinking budget instead of efforts, before applying each model's bounds. Source:
 * docs/concepts/models.md
 */
export const levelBudgets: Readonly<Record<Exclude<ThinkingLevel, 'off'>, number>> = {
  minimal: 128,
  low: 512,
  medium: 2048,
  high: 8192,
  xhigh: 16_384,
  max: 24_576,
}

/** Tokens added for the response if the requested limit leaves none after the budget. */
export const answerRoom = 4096

/**
 * Merges `extra` over the JSON object `body`: objects are merged, other values replaced. Throws `ProviderError` `unsupported` if this would
 * replace a guarded field of all protocols or in `own`, in any spelling.
 */
export function withExtraFields(body: string, extra: JsonObject, own: readonly string[] = []): string {
  const parsed: JsonObject = JSON.parse(body)
  return JSON.stringify(merged(parsed, extra, [...guardedFields, ...own].map(folded), ''))
}

/** Merges `over` into `under`. `place` is the path of both, with a final dot unless it is empty. */
function merged(under: JsonObject, over: JsonObject, guards: readonly string[], place: string): JsonObject {
  const result: JsonObject = { ...under }
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined) continue
    const field = folded(place + key)
    // Replacing the parent of a guarded field also replaces the guarded field.
    const isGuarded = guards.some((guard) => guard === field || (!isJsonObject(value) && guard.startsWith(`${field}.`)))
    if (isGuarded) throw new ProviderError('unsupported', cannotBeSet(`body.${place}${key}`))
    const known = ownOf(result, key)
    const both = isJsonObject(value) ? merged(jsonObjectIn(known), value, guards, `${place}${key}.`) : value
    setOwnField(result, key, both)
  }
  return result
}

/** Normalizes a field name, because providers accept camelCase and underscores. */
function folded(name: string): string {
  return name.replaceAll('_', '').toLowerCase()
}
