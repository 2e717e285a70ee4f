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

/** Name of a wire protocol: built-in, `scripted` (responses computed in this process), or from a third-party provider. */
export type ApiProtocol = KnownApi | 'scripted' | (string & Record<never, never>)
export const apiProtocol: ShapeOf<ApiProtocol> = textLike()

export const capabilityFields = {
  /** How to request thinking: as a token budget, as an effort, always on, or not at all. */
  thinking: oneOf('none', 'budget', 'adaptive', 'alwaysOn'),
  /** Supported efforts, weakest first. */
  efforts: fixedListOf(aText),
  /** Whether `temperature` may be sent while thinking is off. */
  sampling: aFlag,
  /** Whether a tool call may be forced. */
  forcedToolChoice: aFlag,
  /** Whether thinking can be disabled. */
  thinkingOff: aFlag,
  /** Whether reasoning blocks are bound to the exact prefix that produced them. */
  boundReasoning: aFlag,
  /** Media types accepted in user messages, such as `image/png`, or families, such as `audio/*`. Text is always accepted. */
  media: fixedListOf(aText),
  /** Media types accepted in tool results. Other media are sent in a user message. */
  mediaInToolResults: fixedListOf(aText),
  /** Media types that the provider fetches by https URL. */
  mediaByUrl: fixedListOf(aText),
  /** Media types that the provider accepts by file id. */
  mediaById: fixedListOf(aText),
  /** Whether the provider enforces a JSON Schema on responses. Otherwise a forced tool call returns the response. */
  jsonSchema: aFlag,
  /** Whether the provider offers its own tool search. */
  toolSearch: optional(aFlag),
  /** Settings that requests omit because the model rejects them. */
  refuses: optional(fixedListOf(settingName)),
  /** Context window in tokens, if it differs from the model family's default. */
  contextWindow: optional(aPositiveNumber),
  /** Maximum output tokens, including thinking. Absent if unknown. */
  maxOutputTokens: optional(aPositiveNumber),
}

/**
 * A model's capabilities. Not an allow-list: unknown model ids get the capabilities of the newest model in their family.
 * `ModelConfig.capabilities` overrides any field.
 */
export interface ModelCapabilities extends FieldsOf<typeof capabilityFields> {}

/**
 * Format of reasoning requests and of returned reasoning for an OpenAI-compatible backend: `reasoning_effort` (`openAi`, `xai`),
 * `enable_thinking` (`qwen`), a `reasoning` object with an effort and its details echoed (`openRouter`) or a switch (`together`), a
 * `thinking` switch with its text echoed (`deepSeek`), or a template argument (`chatTemplate`).
 */
const thinkingFormat = oneOf('openAi', 'xai', 'qwen', 'openRouter', 'deepSeek', 'together', 'chatTemplate')

/**
 * Field in which to send earlier reasoning back: the field it arrived in (`received`), a fixed field or form, or none (`none`). `thinkTags`
 * also parses a response's leading `<think>` as reasoning.
 */
const thinkingField = oneOf('received', 'reasoningContent', 'reasoning', 'reasoningText', 'parts', 'thinkTags', 'none')
/** Value of `compat.thinkingField`. */
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
  /** Default: `received`. */
  thinkingField: optional(thinkingField),
}

/** Flags for differences between an OpenAI-compatible backend and OpenAI. */
export interface OpenAiCompat extends FieldsOf<typeof compatFields> {}
const openAiCompat: ShapeOf<OpenAiCompat> = object<OpenAiCompat>(compatFields)

/** Default request settings, passed to a model factory. */
export interface ModelSettings extends Omit<RequestSettings, 'maxTokens' | 'headers'> {
  /** Thinking level. Default: `off`. */
  thinking?: ThinkingLevel
}
const { maxTokens: _tokens, headers: _headers, ...ofRequests } = settingFields
/** Settings for a model factory. */
export const modelSettingFields = { ...ofRequests, thinking: thinkingLevel }
const { body: _body, strict: _strict, cacheTtl: _ttl, ...ofClients } = modelSettingFields
/** Settings that a server may allow its clients to set. Headers, body fields and cache settings are reserved for the server. */
export const clientSettingFields = { ...ofClients, maxTokens: _tokens }
/** Settings that a client may send if its server allows them. Source: docs/concepts/models.md */
export type ClientSettings = Omit<RequestSettings, 'body' | 'strict' | 'cacheTtl' | 'headers'> & Pick<ModelSettings, 'thinking'>
const modelSettings: ShapeOf<ModelSettings> = partial<Required<ModelSettings>>(modelSettingFields)

const modelConfigFields = {
  /** Model id sent to the provider. */
  id: aText,
  /** Display name. */
  name: aText,
  api: apiProtocol,
  /** Provider name for logs, loop ids and cost reports. */
  provider: aText,
  /** Base URL without a trailing slash. */
  baseUrl: aText,
  /** Whether the model supports thinking. */
  reasoning: aFlag,
  /** Tokens. */
  contextWindow: aNumberFromZero,
  /** Maximum output tokens if the caller sets no `maxTokens`. If 0, no limit is sent. */
  maxTokens: aNumberFromZero,
  /** Prices in USD per million tokens. All zeros mean unknown. */
  cost: costConfig,
  /** Extra request headers. Do not pass secrets, because captures and logs include these headers. */
  headers: texts,
  compat: optional(openAiCompat),
  /** Default settings of each request, overridden by agent and request. */
  settings: optional(modelSettings),
  /** Overrides the capability table for this model. */
  capabilities: optional(partial<ModelCapabilities>(capabilityFields)),
}

/** Model configuration as plain JSON. Never contains an API key. */
export interface ModelConfig extends FieldsOf<typeof modelConfigFields> {}
