/** Whether a provider accepts cross-origin calls. */
export type BrowserAccess = 'allowed' | 'refused' | 'unknown'

/** A provider, and its factory in the SDK. */
export interface Service {
  name: string
  /** `phi-core/providers/…`, and the name of its export. */
  entry: 'anthropic' | 'openai' | 'google' | 'bedrock'
  factory: 'anthropic' | 'openai' | 'openaiResponses' | 'google' | 'vertex' | 'azure' | 'bedrock' | 'openrouter' | 'openaiCompatible'
  /** For `openaiCompatible`. */
  backend?: 'xai' | 'groq' | 'cerebras' | 'mistral' | 'deepseek' | 'together' | 'fireworks'
  /** The initial model. */
  modelId: string
  keyVariable: string
  access: BrowserAccess
  /** Whether the provider has no fixed URL, so that the user enters a resource URL. */
  needsAddress?: true
}

/** The known providers in display order. Source: docs/guides/keys-and-proxies.md */
export const services = {
  anthropic: {
    ...{ name: 'Anthropic', entry: 'anthropic', factory: 'anthropic', modelId: 'claude-sonnet-4-6' },
    ...{ keyVariable: 'ANTHROPIC_API_KEY', access: 'allowed' },
  },
  openai: {
    ...{ name: 'OpenAI, Chat Completions', entry: 'openai', factory: 'openai', modelId: 'gpt-6-mini' },
    ...{ keyVariable: 'OPENAI_API_KEY', access: 'unknown' },
  },
  openaiResponses: {
    ...{ name: 'OpenAI, Responses', entry: 'openai', factory: 'openaiResponses', modelId: 'gpt-6-mini' },
    ...{ keyVariable: 'OPENAI_API_KEY', access: 'unknown' },
  },
  google: {
    ...{ name: 'Google Gemini', entry: 'google', factory: 'google', modelId: 'gemini-3-flash' },
    ...{ keyVariable: 'GEMINI_API_KEY', access: 'allowed' },
  },
  vertex: {
    ...{ name: 'Google Vertex AI, express mode', entry: 'google', factory: 'vertex', modelId: 'gemini-3-flash' },
    ...{ keyVariable: 'GOOGLE_API_KEY', access: 'allowed' },
  },
  openrouter: {
    ...{ name: 'OpenRouter', entry: 'openai', factory: 'openrouter', modelId: 'anthropic/claude-sonnet-4.6' },
    ...{ keyVariable: 'OPENROUTER_API_KEY', access: 'allowed' },
  },
  azure: {
    ...{ name: 'Azure OpenAI', entry: 'openai', factory: 'azure', modelId: 'my-deployment' },
    ...{ keyVariable: 'AZURE_OPENAI_API_KEY', access: 'refused', needsAddress: true },
  },
  bedrock: {
    ...{ name: 'Amazon Bedrock', entry: 'bedrock', factory: 'bedrock', modelId: 'anthropic.claude-sonnet-4-6' },
    ...{ keyVariable: 'AWS_BEARER_TOKEN_BEDROCK', access: 'refused' },
  },
  xai: compatible('xAI', 'xai', 'grok-5', 'XAI_API_KEY'),
  groq: compatible('Groq', 'groq', 'openai/gpt-oss-120b', 'GROQ_API_KEY'),
  cerebras: compatible('Cerebras', 'cerebras', 'gpt-oss-120b', 'CEREBRAS_API_KEY'),
  mistral: compatible('Mistral', 'mistral', 'mistral-large-latest', 'MISTRAL_API_KEY'),
  deepseek: compatible('DeepSeek', 'deepseek', 'deepseek-chat', 'DEEPSEEK_API_KEY'),
  together: compatible('Together', 'together', 'openai/gpt-oss-120b', 'TOGETHER_API_KEY'),
  fireworks: compatible('Fireworks', 'fireworks', 'accounts/fireworks/models/gpt-oss-120b', 'FIREWORKS_API_KEY'),
} as const satisfies Record<string, Service>

export type ServiceId = keyof typeof services

export const serviceIds = Object.keys(services) as ServiceId[] // the keys of the table above

export function isServiceId(name: unknown): name is ServiceId {
  return serviceIds.some((id) => id === name)
}

function compatible(name: string, backend: NonNullable<Service['backend']>, modelId: string, keyVariable: string): Service {
  return { name, entry: 'openai', factory: 'openaiCompatible', backend, modelId, keyVariable, access: 'unknown' }
}
