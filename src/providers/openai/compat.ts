import type { ModelCapabilities, ModelConfig, OpenAiCompat } from '../../contract/model/model-config.ts'
import { serviceAddresses } from '../kit/transport/endpoint.ts'
import { vendorAddresses } from '../kit/vendors.ts'

/** Facts about a Chat Completions provider. */
export interface Backend {
  baseUrl: string
  compat: OpenAiCompat
  /** Capabilities that all models of the provider share. */
  capabilities?: Partial<ModelCapabilities>
  /** Whether the models reason. The request format depends on the model family. */
  thinks?: true
  /** Usual environment variable for the key. Absent if the provider needs no key. */
  apiKeyVariable?: string
  /** Whether the provider runs on the user's machine, where processing a prompt may take long. */
  isLocal?: true
  /** Headers required in every request. */
  headers?: Record<string, string>
}

/** Flags for an unknown backend. Source: docs/providers/openai.md */
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

/**
 * Returns the compatibility flags for `model`: from its configuration, otherwise OpenAI's flags if OpenAI is the provider, otherwise the
 * default.
 */
export function compatOf({ compat, provider }: ModelConfig): OpenAiCompat {
  return compat ?? (provider === 'openai' ? openAiBackend.compat : defaultCompat)
}

/** URLs of providers that need special treatment beyond `compat`. */
export const chatAddresses = {
  ...vendorAddresses,
  openrouter: 'https://openrouter.ai/api/v1',
  groq: 'https://api.groq.com/openai/v1',
  cerebras: 'https://api.cerebras.ai/v1',
  together: 'https://api.together.ai/v1',
  copilot: 'https://api.individual.githubcopilot.com',
} as const

const chatHosts = new Map(Object.entries(chatAddresses).map(([service, address]) => [hostOf(address), service]))

/** Returns the provider of `model`: the known provider at its base URL, otherwise the configured provider. */
export function serviceBehind({ provider, baseUrl }: Pick<ModelConfig, 'provider' | 'baseUrl'>): string {
  return chatHosts.get(hostOf(baseUrl)) ?? provider
}

/** Returns the host and port of a URL; empty for an invalid one. */
export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : ''
}

/** OpenAI models without reasoning. All others support it. */
export const withoutReasoning = /(^|[/:])(gpt-3|gpt-4|chatgpt-4o|gpt-5-chat)/
