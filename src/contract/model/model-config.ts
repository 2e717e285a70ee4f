import {
  aFlag,
  aNumberFromZero,
  aPositiveNumber,
  aText,
  type FieldsOf,
  fixedListOf,
  type Infer,
  object,
  oneOf,
  optional,
  partial,
  type ShapeOf,
  textLike,
  texts,
} from '../shape/shape.ts'
import { type RequestSettings, settingFields, settingName, type ThinkingLevel, thinkingLevel } from './request-settings.ts'
import { costConfig } from './usage.ts'

/** The seven wire protocols of this package. */
export const knownApi = oneOf(
  'anthropicMessages',
  'openAiCompletions',
  'openAiResponses',
  'azureOpenAiResponses',
  'googleGenerativeAi',
  'googleVertex',
  'bedrockConverseStream',
)
/** One of the seven wire protocols of this package. */
export type KnownApi = Infer<typeof knownApi>

/**
 * The name of a wire protocol: one of the seven, `scripted` (no wire at all, answers computed in this process), or one that a provider of
 * somebody else speaks.
 */
export type ApiProtocol = KnownApi | 'scripted' | (string & Record<never, never>)
export const apiProtocol: ShapeOf<ApiProtocol> = textLike()

export const capabilityFields = {
  /** How its thinking is asked for: a token budget, an effort, always on, or not at all. */
  thinking: oneOf('none', 'budget', 'adaptive', 'alwaysOn'),
  /** Efforts the model knows, weakest first. */
  efforts: fixedListOf(aText),
  /** Whether `temperature` may be sent while thinking is off. */
  sampling: aFlag,
  /** Whether a tool may be forced. */
  forcedToolChoice: aFlag,
  /** Whether thinking may be switched off. */
  thinkingOff: aFlag,
  /** Whether reasoning blocks are bound to the exact prefix that produced them. */
  boundReasoning: aFlag,
  /** Media types that user messages may carry, such as `image/png`, or families, such as `audio/*`. Text is always taken. */
  media: fixedListOf(aText),
  /** Those that tool results may carry; others follow in a user message. */
  mediaInToolResults: fixedListOf(aText),
  /** Those that the service fetches itself, by an https address. */
  mediaByUrl: fixedListOf(aText),
  /** Those that the service takes by the id of a file that it keeps. */
  mediaById: fixedListOf(aText),
  /** Whether the service itself holds answers to a JSON Schema; otherwise a forced tool takes the answer. */
  jsonSchema: aFlag,
  /** Whether the service searches among tools itself, of which the model is shown those that it finds. */
  toolSearch: optional(aFlag),
  /** Settings that the model answers with an error: they are left out. */
  refuses: optional(fixedListOf(settingName)),
  /** Tokens of context, where the family's default is not right. */
  contextWindow: optional(aPositiveNumber),
  /** Tokens of its longest answer, thinking among them; absent where nothing is known of it. */
  maxOutputTokens: optional(aPositiveNumber),
}

/**
 * What a model accepts. Data, not an allow-list: unknown ids behave as the newest of their family, and any field can be
 * overridden through `ModelConfig.capabilities`.
 */
export interface ModelCapabilities extends FieldsOf<typeof capabilityFields> {}

/**
 * How an OpenAI-compatible backend is asked to reason, and what it wants back: `reasoning_effort` (`openAi`, `xai`), `enable_thinking`
 * (`qwen`), a `reasoning` object with an effort and its details echoed (`openRouter`) or a switch (`together`), a `thinking` switch with
 * its text echoed (`deepSeek`), or a template argument (`chatTemplate`).
 */
const thinkingFormat = oneOf('openAi', 'xai', 'qwen', 'openRouter', 'deepSeek', 'together', 'chatTemplate')

/**
 * Where the reasoning of earlier responses goes back: in the field in which it came (`received`), always in one field or form, or nowhere
 * (`none`). `thinkTags` also reads a `<think>` at the beginning of a response as reasoning.
 */
const thinkingField = oneOf('received', 'reasoningContent', 'reasoning', 'reasoningText', 'parts', 'thinkTags', 'none')
/** A word of `compat.thinkingField`. */
export type ThinkingField = Infer<typeof thinkingField>

export const compatFields = {
  supportsStore: aFlag,
  supportsDeveloperRole: aFlag,
  supportsReasoningEffort: aFlag,
  supportsUsageInStreaming: aFlag,
  maxTokensField: oneOf('maxTokens', 'maxCompletionTokens'),
  requiresToolResultName: aFlag,
  requiresAssistantAfterToolResult: aFlag,
  thinkingFormat,
  /** Default `received`. */
  thinkingField: optional(thinkingField),
}

/** Deviations of an OpenAI-compatible backend. Every flag is settable by the user. */
export interface OpenAiCompat extends FieldsOf<typeof compatFields> {}
const openAiCompat: ShapeOf<OpenAiCompat> = object<OpenAiCompat>(compatFields)

/** What a factory may say of each request to its model. */
export interface ModelSettings extends Omit<RequestSettings, 'maxTokens' | 'headers'> {
  /** How deep the model thinks. Default `off`. */
  thinking?: ThinkingLevel
}
const { maxTokens: _tokens, headers: _headers, ...ofRequests } = settingFields
/** What a factory takes beside what describes its model. */
export const modelSettingFields = { ...ofRequests, thinking: thinkingLevel }
const { body: _body, strict: _strict, cacheTtl: _ttl, ...ofClients } = modelSettingFields
/** What a server may let its clients say. The rest is the server's: headers, fields of its own, what it pays for the cache. */
export const clientSettingFields = { ...ofClients, maxTokens: _tokens }
/** Settings that a client may ask for, where its server lets it. Source: docs/concepts/models.md */
export type ClientSettings = Omit<RequestSettings, 'body' | 'strict' | 'cacheTtl' | 'headers'> & Pick<ModelSettings, 'thinking'>
const modelSettings: ShapeOf<ModelSettings> = partial<Required<ModelSettings>>(modelSettingFields)

const modelConfigFields = {
  /** Sent to the service. */
  id: aText,
  /** Shown to people. */
  name: aText,
  api: apiProtocol,
  /** Provider name for logs, loop ids and cost reports. */
  provider: aText,
  /** Endpoint without a trailing slash. */
  baseUrl: aText,
  /** Whether the model can think. */
  reasoning: aFlag,
  /** Tokens. */
  contextWindow: aNumberFromZero,
  /** Largest answer in tokens, when the caller does not set `maxTokens`; 0: as long as the model and its service allow. */
  maxTokens: aNumberFromZero,
  /** USD per million tokens; zeros mean unknown. */
  cost: costConfig,
  /** Extra request headers. Not for secrets: these are captured with the configuration. */
  headers: texts,
  compat: optional(openAiCompat),
  /** Settings of each request, unless the agent or the request says otherwise. */
  settings: optional(modelSettings),
  /** Overrides of the capability table for this model. */
  capabilities: optional(partial<ModelCapabilities>(capabilityFields)),
}

/**
 * The complete description of a model, as plain JSON. It never holds a key.
 */
export interface ModelConfig extends FieldsOf<typeof modelConfigFields> {}
