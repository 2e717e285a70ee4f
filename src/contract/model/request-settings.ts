import { foreignFormat } from '../shape/foreign-names.ts'
import { jsonFault } from '../shape/json-fault.ts'
import {
  aFlag,
  aJsonObject,
  aJsonSchema,
  aSchema,
  aText,
  between,
  either,
  type FieldsOf,
  fieldsOf,
  fixedListOf,
  type Infer,
  namesOf,
  object,
  oneOf,
  optional,
  partial,
  required,
  type ShapeOf,
  tagged,
  texts,
  wholeFrom,
  withExpected,
  withInside,
} from '../shape/shape.ts'

/** Returns whether `text` is a valid header name. */
export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text)
}

/** Returns whether `text` is a valid header value for `fetch`: one line. */
export function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text)
}

/** Headers by name. Validated here, because the error that `fetch` throws for invalid headers looks like a network failure. */
export const headerFields: ShapeOf<Record<string, string>> = withInside(texts, (value, path) => {
  const bad = Object.entries(value as Record<string, string>).find(([name, text]) => !isHeaderName(name) || !isHeaderValue(text))
  // Omit the value, which may be a secret.
  return bad && `${path}.${JSON.stringify(bad[0])} cannot be sent; it must be a valid header name with a one-line Latin-1 value.`
})

const declarationFields = {
  name: aText,
  /** Description for the model: what the tool does and when to use it. */
  description: aText,
  /** JSON Schema of the arguments, an object at its root. */
  parameters: aJsonSchema,
}

/** A client tool that a request declares. Source: docs/concepts/tools.md */
export interface ClientToolDeclaration extends FieldsOf<typeof declarationFields> {}
const clientToolDeclaration: ShapeOf<ClientToolDeclaration> = fieldsOf(declarationFields)

/** Choices of a prompt by name, from the agent's `choices`. */
export const choiceFields = {
  /** One of `choices.models`. Default: the agent's own model. */
  model: aText,
  /** Names of `choices.tools` to enable. Default: none. */
  tools: fixedListOf(aText),
  /** Declared client tools whose names `choices.clientTools` allows. */
  clientTools: fixedListOf(clientToolDeclaration),
}

/** Range of penalties that providers accept. */
const aPenalty = between(-2, 2)

/** How much a model thinks. */
export const thinkingLevel = oneOf('off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')
/** How much a model thinks. A model without this level uses the nearest one. */
export type ThinkingLevel = Infer<typeof thinkingLevel>

/** All thinking levels, weakest first, for a selection in a user interface. Source: docs/concepts/models.md */
export const thinkingLevels: readonly ThinkingLevel[] = thinkingLevel.words

/** Whether a model may or must call tools. */
export const toolChoiceWord = oneOf('auto', 'none', 'required')
const aToolName = fieldsOf({ tool: required(aText) })
const allowedNames = withInside(fixedListOf(aText), (value, path, reading) =>
  reading === 'given' && Array.isArray(value) && value.length === 0 ? `${path} is empty; name a tool, or pass 'none'.` : undefined,
)
const toolNames = fieldsOf({ allowed: required(allowedNames), mode: optional(oneOf('auto', 'required')) })
const toolChoice = withExpected(either(toolChoiceWord, aToolName, toolNames), '"auto", "none", "required", { tool } or { allowed }')

/** Providers reject an empty stop sequence, some of them with every later request. */
const stopTexts = withInside(fixedListOf(aText), (value, path, reading) => {
  const at = reading === 'given' && Array.isArray(value) ? value.indexOf('') : -1
  return at < 0 ? undefined : `${path}[${at}] is empty; a stop sequence needs at least one character.`
})
/**
 * Whether the model can call tools (`auto`), cannot call tools (`none`), must call any tool (`required`), or must call a specific tool (`{
 * tool }`). `{ allowed }` restricts the model to the listed tools; with `mode: 'required'`, the model must call one of them.
 */
export type ToolChoice = Infer<typeof toolChoice>

/** Body fields that `body` cannot replace, because they contain the conversation or determine how the response is parsed. */
export const guardedFields = ['model', 'messages', 'input', 'contents', 'stream']

/** Additional body fields, named as in the provider's API. */
const extraBody = withInside(aJsonObject, (value, path) => {
  const guarded = guardedFields.find((name) => Object.hasOwn(Object(value), name))
  return guarded === undefined ? jsonFault(value, path) : cannotBeSet(`${path}.${guarded}`)
})

/** Returns the reason why a body field is rejected. */
export function cannotBeSet(field: string): string {
  return `${field} cannot be set here: options of the agent and its model determine it.`
}

export const settingFields = {
  /** Maximum response tokens. Default: the model's limit. */
  maxTokens: wholeFrom(1),
  /** Sampling temperature, 0 to 2. */
  temperature: between(0, 2),
  /** Nucleus sampling: samples only from the most likely tokens with this cumulative probability, 0 to 1. */
  topP: between(0, 1),
  /** Samples from only this many of the most likely tokens. */
  topK: wholeFrom(1),
  /** Strings that end the response. */
  stopSequences: stopTexts,
  /** Seed for reproducible responses, if the provider supports it. */
  seed: wholeFrom(0),
  /** Values above 0 make frequently used tokens less likely. Range: -2 to 2. */
  frequencyPenalty: aPenalty,
  /** Values above 0 make tokens that already occurred less likely. Range: -2 to 2. */
  presencePenalty: aPenalty,
  /** Response length. */
  verbosity: oneOf('low', 'medium', 'high'),
  /** Whether the model can or must call tools. A forced choice applies until the run has made one call. Default: `auto`. */
  toolChoice,
  /** If `false`, a response contains at most one call. */
  parallelToolCalls: aFlag,
  /** Maximum thinking tokens, for models that support a budget. Enables thinking. */
  thinkingBudget: wholeFrom(1),
  /** Amount of thinking shown in the response. `none` shows no thinking. Default: the provider's default. */
  thinkingSummary: oneOf('auto', 'concise', 'detailed', 'none'),
  /** Service tier: price and speed. */
  serviceTier: oneOf('standard', 'priority', 'flex', 'fast'),
  /** Lifetime of the provider's prompt cache. */
  cacheTtl: oneOf('5m', '1h'),
  /** Pseudonymous id of the end user, such as a hash. Lets the provider distinguish users. */
  user: aText,
  /** Extra body fields, named as in the provider's API. Merged into the request last: objects are merged, other values are replaced. */
  body: extraBody,
  /** Extra request headers. Omitted from captures and records. */
  headers: headerFields,
  /** Fails the call before the request if the model does not accept the media. By default, a text line replaces the media. */
  requireMedia: aFlag,
  /** Fails the call before the request if the model does not support a setting. By default, the setting is omitted with one warning. */
  strict: aFlag,
}

type Settings = { [Name in keyof typeof settingFields]?: Infer<(typeof settingFields)[Name]> }

/**
 * Settings of a model request, besides `thinking`. Factories, agents, prompts, `prepareTurn`, agent files (with underscores) and HTTP
 * requests use the same names. Precedence: turn, prompt, agent, model.
 *
 * **Contract**
 * - An unsupported setting is omitted with one warning. With `strict`, it fails the call.
 *
 * Source: docs/concepts/models.md
 */
export interface RequestSettings extends Settings {
  toolChoice?: ToolChoice
}

/** A setting's name. */
export type SettingName = keyof typeof settingFields
export const settingName: ShapeOf<SettingName> = oneOf(...namesOf(settingFields))
/** Names of all settings. */
export const settingNames: readonly SettingName[] = namesOf(settingFields)

/** Returns the settings in `given` that are set. */
export function settingsIn(given: RequestSettings): RequestSettings {
  const settings: Record<string, unknown> = {}
  for (const name of settingNames) if (given[name] !== undefined) settings[name] = given[name]
  return settings as RequestSettings // the same values under the same names
}

export const responseFormat = tagged('type', {
  text: {},
  jsonObject: {},
  jsonSchema: { name: aText, schema: aJsonSchema, strict: optional(aFlag) },
})
/** Response format as callers write it. */
export const responseFormatInput = withInside(aSchema, foreignFormat)
/** A response's format. For providers that cannot enforce a schema, a forced tool call returns the response. */
export type ResponseFormat = Infer<typeof responseFormat>

const outputFormFields = {
  /** Property of the response that holds the requested value, if it is not an object. */
  property: optional(aText),
}

/** Location of the requested value in a JSON response. Source: docs/guides/structured-output.md */
export interface OutputForm extends FieldsOf<typeof outputFormFields> {}
export const outputForm: ShapeOf<OutputForm> = object<OutputForm>(outputFormFields)

const { headers: _secret, ...ofPrompts } = settingFields
const promptFields = {
  ...ofPrompts,
  thinking: thinkingLevel,
  responseFormat,
  repair: wholeFrom(0),
  ...choiceFields,
  /** Names of settings that are never recorded: headers and body (may contain secrets), and a schema with code. */
  unrecorded: fixedListOf(aText),
}
/** A prompt's request settings, in the form that its run records. Source: docs/concepts/models.md */
export type PromptSettings = { [Name in keyof typeof promptFields]?: Infer<(typeof promptFields)[Name]> }
export const promptSettings: ShapeOf<PromptSettings> = partial<Required<PromptSettings>>(promptFields)

const { maxTokens: _tokens, temperature: _temperature, strict: _strict, body: _fields, ...recordedFields } = ofPrompts
/**
 * Settings in the form that a record stores. Excludes `maxTokens` and `temperature` (separate fields), headers and extra body fields (may
 * contain secrets).
 */
export type RecordedSettings = { [Name in keyof typeof recordedFields]?: Infer<(typeof recordedFields)[Name]> }
export const recordedSettings: ShapeOf<RecordedSettings> = partial<Required<RecordedSettings>>(recordedFields)

/** Returns the settings to record, or `undefined` if there are none. */
export function toRecord(given: RequestSettings): RecordedSettings | undefined {
  const { maxTokens, temperature, headers, body, strict, ...recorded } = settingsIn(given)
  return Object.keys(recorded).length === 0 ? undefined : recorded
}
