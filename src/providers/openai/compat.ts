import type { ModelCapabilities, ModelConfig, OpenAiCompat } from '../../contract/model/model-config.ts'
import { serviceAddresses } from '../kit/transport/endpoint.ts'

/** What is known of a service that speaks Chat Completions. */
export interface Backend {
  baseUrl: string
  compat: OpenAiCompat
  /** What its models accept, where that is the same for all of them. */
  capabilities?: Partial<ModelCapabilities>
  /** Its models think, each in its own way: see the families of models. */
  thinks?: true
  /** Where people usually keep its key; absent: it needs none. */
  apiKeyVariable?: string
  /** Runs on the machine of its user, and reads a long prompt for as long as it takes. */
  isLocal?: true
  /** What it wants in every request. */
  headers?: Record<string, string>
}

/** The deviations that are assumed of an unknown backend. Source: docs/providers/openai.md */
export const defaultCompat: OpenAiCompat = {
  supportsStore: false,
  supportsDeveloperRole: false,
  supportsReasoningEffort: false,
  supportsUsageInStreaming: true,
  maxTokensField: 'maxTokens',
  requiresToolResultName: false,
  requiresAssistantAfterToolResult: false,
  thinkingFormat: 'openAi',
}

/** OpenAI itself. */
export const openAiBackend = {
  baseUrl: serviceAddresses.openai,
  apiKeyVariable: 'OPENAI_API_KEY',
  compat: {
    supportsStore: true,
    supportsDeveloperRole: true,
    supportsReasoningEffort: true,
    supportsUsageInStreaming: true,
    maxTokensField: 'maxCompletionTokens',
    requiresToolResultName: false,
    requiresAssistantAfterToolResult: false,
    thinkingFormat: 'openAi',
  },
} as const satisfies Backend

/** The deviations of the service behind `model`: its own, else OpenAI's where that is the provider, else the default. */
export function compatOf({ compat, provider }: ModelConfig): OpenAiCompat {
  return compat ?? (provider === 'openai' ? openAiBackend.compat : defaultCompat)
}

/** OpenAI's models that do not think; all its others do. */
export const withoutReasoning = /(^|[/:])(gpt-3|gpt-4|chatgpt-4o|gpt-5-chat)/
