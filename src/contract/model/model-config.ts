import { type Infer, oneOf, type ShapeOf, textLike } from '../shape/shape.ts'
import type { CostConfig } from './usage.ts'

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

/** How deep a model should think, in words. */
export const thinkingLevel = oneOf('off', 'minimal', 'low', 'medium', 'high')
/** How deep a model should think. */
export type ThinkingLevel = Infer<typeof thinkingLevel>

/** How a model's thinking is asked for: a token budget, an effort, always on, or not at all. */
export type ThinkingMode = 'none' | 'budget' | 'adaptive' | 'alwaysOn'

/**
 * What a model accepts. Data, not an allow-list: unknown ids behave as the newest of their family, and any field can be
 * overridden through `ModelConfig.capabilities`.
 */
export interface ModelCapabilities {
  thinking: ThinkingMode
  /** Efforts the model knows, weakest first. */
  efforts: readonly string[]
  /** Whether `temperature` may be sent while thinking is off. */
  sampling: boolean
  /** Whether a tool may be forced. */
  forcedToolChoice: boolean
  /** Whether thinking may be switched off. */
  thinkingOff: boolean
  /** Whether reasoning blocks are bound to the exact prefix that produced them. */
  boundReasoning: boolean
  /** Whether user messages may carry images. */
  images: boolean
  /** Whether tool results may carry images; otherwise they follow in a user message. */
  imagesInToolResults: boolean
  /** Whether the service itself holds answers to a JSON Schema; otherwise a forced tool takes the answer. */
  jsonSchema: boolean
  /** Tokens of context, where the family's default is not right. */
  contextWindow?: number
}

/**
 * How an OpenAI-compatible backend is asked to reason, and what it wants back: `reasoning_effort` (`openAi`, `xai`), `enable_thinking`
 * (`qwen`), a `reasoning` object with an effort and its details echoed (`openRouter`) or a switch (`together`), a `thinking` switch with
 * its text echoed (`deepSeek`), or a template argument (`chatTemplate`).
 */
export type ThinkingFormat = 'openAi' | 'xai' | 'qwen' | 'openRouter' | 'deepSeek' | 'together' | 'chatTemplate'

/** Deviations of an OpenAI-compatible backend. Every flag is settable by the user. */
export interface OpenAiCompat {
  supportsStore: boolean
  supportsDeveloperRole: boolean
  supportsReasoningEffort: boolean
  supportsUsageInStreaming: boolean
  maxTokensField: 'maxTokens' | 'maxCompletionTokens'
  requiresToolResultName: boolean
  requiresAssistantAfterToolResult: boolean
  thinkingFormat: ThinkingFormat
}

/**
 * The complete description of a model, as plain JSON. It never holds a key.
 */
export interface ModelConfig {
  /** Sent to the service. */
  id: string
  /** Shown to people. */
  name: string
  api: ApiProtocol
  /** Provider name for logs, loop ids and cost reports. */
  provider: string
  /** Endpoint without a trailing slash. */
  baseUrl: string
  /** Whether the model can think. */
  reasoning: boolean
  /** Tokens. */
  contextWindow: number
  /** Largest answer in tokens, when the caller does not set `maxTokens`. */
  maxTokens: number
  /** USD per million tokens; zeros mean unknown. */
  cost: CostConfig
  /** Extra request headers. Not for secrets: these are captured with the configuration. */
  headers: Record<string, string>
  compat?: OpenAiCompat
  /** Overrides of the capability table for this model. */
  capabilities?: Partial<ModelCapabilities>
}
