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
  toldAs,
  wholeFrom,
  withInside,
} from '../shape/shape.ts'

/** Whether `text` may stand as the name of a header. */
export function isHeaderName(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text)
}

/** Whether `text` may stand as the value of a header: one line of characters that `fetch` takes. */
export function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text)
}

/** Headers by their names. Without this look `fetch` refuses them, which reads as if the service could not be reached. */
export const headerFields: ShapeOf<Record<string, string>> = withInside(texts, (value, path) => {
  const bad = Object.entries(value as Record<string, string>).find(([name, text]) => !isHeaderName(name) || !isHeaderValue(text))
  // No value: it may be a secret.
  return bad && `${path}.${JSON.stringify(bad[0])} cannot be sent; it must be the name of a header with one line of Latin text.`
})

const declarationFields = {
  name: aText,
  /** For the model: what the tool does and when to use it. */
  description: aText,
  /** What it takes, as a JSON Schema of an object. */
  parameters: aJsonSchema,
}

/** A tool that a page brings along and runs. Source: docs/concepts/tools.md */
export interface ClientToolDeclaration extends FieldsOf<typeof declarationFields> {}
const clientToolDeclaration: ShapeOf<ClientToolDeclaration> = fieldsOf(declarationFields)

/** What a prompt may choose by name, of what the agent's `choices` list. */
export const choiceFields = {
  /** One of `choices.models`. Default: the agent's own. */
  model: aText,
  /** Those of `choices.tools` that are switched on. Default: none. */
  tools: fixedListOf(aText),
  /** Tools that the page brings along, of those that `choices.clientTools` names. */
  clientTools: fixedListOf(clientToolDeclaration),
}

/** Services take penalties as far from 0 as this. */
const aPenalty = between(-2, 2)

/** How deep a model should think, in words. */
export const thinkingLevel = oneOf('off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')
/** How deep a model should think. A model that does not know a level thinks at the nearest one that it knows. */
export type ThinkingLevel = Infer<typeof thinkingLevel>

/** The levels of thinking, the weakest first: for pages that let somebody pick one. Source: docs/concepts/models.md */
export const thinkingLevels: readonly ThinkingLevel[] = thinkingLevel.words

/** What a model may, or must, do about tools, in words. */
export const toolChoiceWord = oneOf('auto', 'none', 'required')
const aToolName = fieldsOf({ tool: required(aText) })
const allowedNames = withInside(fixedListOf(aText), (value, path, reading) =>
  reading === 'given' && Array.isArray(value) && value.length === 0 ? `${path} is empty; name a tool, or say 'none'.` : undefined,
)
const toolNames = fieldsOf({ allowed: required(allowedNames), mode: optional(oneOf('auto', 'required')) })
const toolChoice = toldAs(either(toolChoiceWord, aToolName, toolNames), '"auto", "none", "required", { tool } or { allowed }')

/** Services refuse an empty one, some of them with every later request. */
const stopTexts = withInside(fixedListOf(aText), (value, path, reading) => {
  const at = reading === 'given' && Array.isArray(value) ? value.indexOf('') : -1
  return at < 0 ? undefined : `${path}[${at}] is empty; a text that ends an answer has at least one character.`
})
/**
 * Whether the model may call tools (`auto`), must not (`none`), must call one (`required`), must call this one (`{ tool }`), or may call some of
 * them only (`{ allowed }`, with `mode: 'required'`: must).
 */
export type ToolChoice = Infer<typeof toolChoice>

/** Fields of a body that carry the conversation, and say how it is read: in no protocol `body` can replace them. */
export const guardedFields = ['model', 'messages', 'input', 'contents', 'stream']

/** Fields of a request's body, as the service calls them. */
const extraBody = withInside(aJsonObject, (value, path) => {
  const guarded = guardedFields.find((name) => Object.hasOwn(Object(value), name))
  return guarded === undefined ? jsonFault(value, path) : cannotBeSet(`${path}.${guarded}`)
})

/** Why `field` of a body is refused. */
export function cannotBeSet(field: string): string {
  return `${field} cannot be set: options of the agent and its model say it.`
}

export const settingFields = {
  /** Tokens per answer. Default: the model's. */
  maxTokens: wholeFrom(1),
  /** How freely the model picks its words, 0 to 2. */
  temperature: between(0, 2),
  /** Only the likeliest words that have this much probability together, 0 to 1. */
  topP: between(0, 1),
  /** Only this many of the likeliest words. */
  topK: wholeFrom(1),
  /** Texts that end the answer where the model writes them. */
  stopSequences: stopTexts,
  /** Makes answers alike that begin alike, as far as the service can. */
  seed: wholeFrom(0),
  /** Above 0: words that were used often come less, -2 to 2. */
  frequencyPenalty: aPenalty,
  /** Above 0: words that were used at all come less, -2 to 2. */
  presencePenalty: aPenalty,
  /** How long answers are. */
  verbosity: oneOf('low', 'medium', 'high'),
  /** Whether tools may, or must, be called. A choice that forces a call holds until the run has made one. Default `auto`. */
  toolChoice,
  /** `false`: at most one call per answer. */
  parallelToolCalls: aFlag,
  /** Tokens that thinking may take, for models that count them. Switches thinking on. */
  thinkingBudget: wholeFrom(1),
  /** How much of its thinking the model shows; `none`: nothing. Default: what the service shows. */
  thinkingSummary: oneOf('auto', 'concise', 'detailed', 'none'),
  /** At which price and speed the service works. */
  serviceTier: oneOf('standard', 'priority', 'flex', 'fast'),
  /** How long the service keeps what it has cached. */
  cacheTtl: oneOf('5m', '1h'),
  /** Who asks, in a form that names nobody, such as a hash: the service tells users apart by it. */
  user: aText,
  /** Fields of the body as the service calls them, merged into the request last: objects are merged, all else replaced. */
  body: extraBody,
  /** Extra headers of the request. They are in no capture and no record. */
  headers: headerFields,
  /** Media that the model does not take fail the call before anything is sent. Default: a line tells the model what was left out. */
  requireMedia: aFlag,
  /** A setting that the model does not take fails the call before anything is sent. Default: it is left out, with one warning. */
  strict: aFlag,
}

type Settings = { [Name in keyof typeof settingFields]?: Infer<(typeof settingFields)[Name]> }

/**
 * What may be said about how a model answers, under the same names on a factory, an agent, a prompt, in `prepareTurn`, in agent files (with underscores)
 * and over HTTP, beside `thinking`. The nearest word counts: that of the turn, the prompt, the agent, the model.
 *
 * **Contract**
 * - A setting that a model does not take is left out with one warning that names it, or fails the call where `strict` says so.
 *
 * Source: docs/concepts/models.md
 */
export interface RequestSettings extends Settings {
  toolChoice?: ToolChoice
}

/** One of the settings. */
export type SettingName = keyof typeof settingFields
export const settingName: ShapeOf<SettingName> = oneOf(...namesOf(settingFields))
/** The names of all settings. */
export const settingNames: readonly SettingName[] = namesOf(settingFields)

/** Those of `given` that are settings and have a value. */
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
/** What callers write for it. */
export const responseFormatInput = withInside(aSchema, foreignFormat)
/**
 * What form an answer must have. Services that cannot promise a schema get a tool that only takes the answer, and are made to call it.
 */
export type ResponseFormat = Infer<typeof responseFormat>

const outputFormFields = {
  /** The property of the answer that holds what was asked for, where that is no object. */
  property: optional(aText),
}

/** An answer that is JSON, and where in it that stands which was asked for. Source: docs/guides/structured-output.md */
export interface OutputForm extends FieldsOf<typeof outputFormFields> {}
export const outputForm: ShapeOf<OutputForm> = object<OutputForm>(outputFormFields)

const { headers: _secret, ...ofPrompts } = settingFields
const promptFields = {
  ...ofPrompts,
  thinking: thinkingLevel,
  responseFormat,
  repair: wholeFrom(0),
  ...choiceFields,
  /** Names of what else it said, which no record holds: headers, a body that may hold a secret, a schema that is code. */
  unrecorded: fixedListOf(aText),
}
/** What a prompt said of its requests, as its run keeps it. Source: docs/concepts/models.md */
export type PromptSettings = { [Name in keyof typeof promptFields]?: Infer<(typeof promptFields)[Name]> }
export const promptSettings: ShapeOf<PromptSettings> = partial<Required<PromptSettings>>(promptFields)

const { maxTokens: _tokens, temperature: _temperature, strict: _strict, body: _fields, ...recordedFields } = ofPrompts
/** Settings as a record holds them: `maxTokens` and `temperature` stand beside them, headers and extra fields of the body may hold a secret. */
export type RecordedSettings = { [Name in keyof typeof recordedFields]?: Infer<(typeof recordedFields)[Name]> }
export const recordedSettings: ShapeOf<RecordedSettings> = partial<Required<RecordedSettings>>(recordedFields)

/** What of `given` is recorded; `undefined` where that is nothing. */
export function toRecord(given: RequestSettings): RecordedSettings | undefined {
  const { maxTokens, temperature, headers, body, strict, ...recorded } = settingsIn(given)
  return Object.keys(recorded).length === 0 ? undefined : recorded
}
