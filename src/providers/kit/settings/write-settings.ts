import { ProviderError } from '../../../contract/errors.ts'
import type { JsonObject, JsonValue } from '../../../contract/json.ts'
import type { ModelCapabilities } from '../../../contract/model/model-config.ts'
import { type RequestSettings, type SettingName, settingsIn } from '../../../contract/model/request-settings.ts'
import type { StreamRequest } from '../../../types/model/provider.ts'

/** The settings that become fields of a request one by one. The others depend on tools and thinking, or on the transport. */
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
 * Where a setting goes: the field that takes it as it is, or the fields that say it; a text says why it is not taken. `adjust` reports that something
 * else is sent.
 */
type SettingRule<Value> = { field: string } | ((value: Value, adjust: (sentence: string) => void) => JsonObject | string)

/** How a protocol says each setting. What is missing, it has no field for. */
export type SettingRules = { readonly [Name in FieldSetting]?: SettingRule<NonNullable<RequestSettings[Name]>> | undefined }

/** What a request's settings are written with. */
export interface SettingWriter {
  rules: SettingRules
  capabilities: ModelCapabilities
  /** Why the words cannot be picked more or less freely now, such as `while it thinks`. */
  noSampling?: string | undefined
}

const sampling: ReadonlySet<SettingName> = new Set(['temperature', 'topP', 'topK'])

/**
 * The fields that say the settings of `request`. What the model does not take is left out, with a warning in `warnings`; with `strict` it throws
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
  const value = request[name] as NonNullable<RequestSettings[FieldSetting]> // just looked at
  const rule = rules[name] as SettingRule<typeof value> | undefined // the rule of this very setting
  const refusal = refusalOf(name, capabilities, noSampling)
  if (rule === undefined || refusal !== undefined) leaveOut(request, name, refusal, warnings)
  else if ('field' in rule)
    return { [rule.field]: value as JsonValue } // settings are JSON
  else {
    const said = rule(value, (sentence) => adjusted(request, `${name} ${sentence}`, warnings))
    if (typeof said !== 'string') return said
    leaveOut(request, name, said, warnings)
  }
  return undefined
}

function refusalOf(
  name: SettingName,
  { sampling: samples, refuses }: ModelCapabilities,
  noSampling: string | undefined,
): string | undefined {
  if (refuses?.includes(name)) return 'does not take it'
  if (!sampling.has(name)) return undefined
  return samples ? noSampling && `does not take it ${noSampling}` : 'does not take it'
}

/** Says that `what` is not sent; with `strict` the call fails. `why`: what the model does. Default: that its service has no field for it. */
export function leaveOut(request: StreamRequest, what: string, why: string | undefined, warnings: string[]): void {
  adjusted(request, `${what} left out: ${request.model.id} ${why ?? 'is called by a protocol that has no field for it'}`, warnings)
}

/** Says that something else is sent than was asked for; with `strict` the call fails. */
export function adjusted({ strict }: Pick<StreamRequest, 'strict'>, sentence: string, warnings: string[]): void {
  if (strict !== true) {
    warnings.push(sentence)
    return
  }
  throw new ProviderError('unsupported', `${sentence}. With strict that is an error: ask for something else, or choose another model.`, {
    hint: 'Where the model takes it by now, say so in capabilities of its factory.',
  })
}

/** A temperature of services that know 0 to 1. */
export function upToOne(field: string): SettingRule<number> {
  return (value, adjust) => {
    if (value > 1) adjust(`lowered from ${value} to 1: the service takes no more`)
    return { [field]: Math.min(1, value) }
  }
}

/** Texts that end an answer, `most` at most. */
export function stopTexts(field: string, most: number): SettingRule<readonly string[]> {
  return (texts, adjust) => {
    if (texts.length > most) adjust(`cut from ${texts.length} texts to the first ${most}: the service takes no more`)
    return texts.length === 0 ? {} : { [field]: texts.slice(0, most) }
  }
}

/** `request` with the settings of its model where it says nothing itself. The same object where the model has none. */
export function withModelSettings(request: StreamRequest): StreamRequest {
  const { settings } = request.model
  if (settings === undefined) return request
  const { thinking: _level, ...of } = settings
  return { ...request, ...of, ...settingsIn(request) }
}
