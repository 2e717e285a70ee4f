import type { ModelCapabilities, ModelConfig, OpenAiCompat } from '../../contract/model/model-config.ts'
import { serviceAddresses } from '../kit/transport/endpoint.ts'
import { vendorAddresses } from '../kit/vendors.ts'

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

/** Where services are whose requests deviate in more than `compat` says. */
export const chatAddresses = {
  ...vendorAddresses,
  openrouter: 'https://openrouter.ai/api/v1',
  groq: 'https://api.groq.com/openai/v1',
  cerebras: 'https://api.cerebras.ai/v1',
  together: 'https://api.together.ai/v1',
  copilot: 'https://api.individual.githubcopilot.com',
} as const

const chatHosts = new Map(Object.entries(chatAddresses).map(([service, address]) => [hostOf(address), service]))

/** Returns the service behind `model`: the one at its base URL if that is known, else its provider. */
export function serviceBehind({ provider, baseUrl }: Pick<ModelConfig, 'provider' | 'baseUrl'>): string {
  return chatHosts.get(hostOf(baseUrl)) ?? provider
}

/** Returns the host of `address`, with its port; empty for one that is no URL. */
export function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : ''
}

/** OpenAI's models that do not think; all its others do. */
export const withoutReasoning = /(^|[/:])(gpt-3|gpt-4|chatgpt-4o|gpt-5-chat)/
