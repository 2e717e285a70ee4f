import type { ModelCapabilities, ModelConfig, OpenAiCompat } from '../../types/model.ts'

/** What is known of a service that speaks Chat Completions. */
export interface Backend {
  baseUrl: string
  compat: OpenAiCompat
  /** What its models accept, where that is the same for all of them. */
  capabilities?: Partial<ModelCapabilities>
  /** Answers 400 without a body when the prompt is too long. */
  emptyBodyIsOverflow?: boolean
  /** Tool call ids must be nine letters and digits. */
  hasNineCharIds?: boolean
}

/** The deviations that are assumed of an unknown backend. Source: reference/phi-core-0.10.md §5 "Models". */
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

function compat(deviations: Partial<OpenAiCompat>): OpenAiCompat {
  return { ...defaultCompat, ...deviations }
}

const thinks: Partial<ModelCapabilities> = { thinking: 'adaptive', thinkingOff: true }

/**
 * Known backends by provider name. A configuration without `compat` gets that of its provider.
 * Source: reference/providers.md §2 "Compatible backends".
 */
export const compatPresets = {
  openai: {
    baseUrl: 'https://api.openai.com/v1',
    compat: compat({
      supportsStore: true,
      supportsDeveloperRole: true,
      supportsReasoningEffort: true,
      maxTokensField: 'maxCompletionTokens',
    }),
  },
  openrouter: {
    baseUrl: 'https://openrouter.ai/api/v1',
    compat: compat({ supportsDeveloperRole: true, thinkingFormat: 'openRouter' }),
  },
  xai: { baseUrl: 'https://api.x.ai/v1', compat: compat({ thinkingFormat: 'xai' }) },
  groq: { baseUrl: 'https://api.groq.com/openai/v1', compat: defaultCompat },
  cerebras: {
    baseUrl: 'https://api.cerebras.ai/v1',
    compat: compat({ supportsReasoningEffort: true, maxTokensField: 'maxCompletionTokens' }),
    emptyBodyIsOverflow: true,
  },
  mistral: {
    baseUrl: 'https://api.mistral.ai/v1',
    compat: compat({ supportsReasoningEffort: true, requiresToolResultName: true, requiresAssistantAfterToolResult: true }),
    capabilities: { efforts: ['none', 'high'], thinkingOff: true },
    emptyBodyIsOverflow: true,
    hasNineCharIds: true,
  },
  deepseek: {
    baseUrl: 'https://api.deepseek.com',
    compat: compat({ supportsReasoningEffort: true, thinkingFormat: 'deepSeek' }),
    capabilities: { ...thinks, efforts: ['low', 'high', 'max'] },
  },
  together: { baseUrl: 'https://api.together.ai/v1', compat: compat({ thinkingFormat: 'together' }) },
  fireworks: { baseUrl: 'https://api.fireworks.ai/inference/v1', compat: compat({ supportsReasoningEffort: true }) },
  ollama: { baseUrl: 'http://localhost:11434/v1', compat: defaultCompat },
  lmstudio: { baseUrl: 'http://localhost:1234/v1', compat: defaultCompat },
  vllm: { baseUrl: 'http://localhost:8000/v1', compat: compat({ thinkingFormat: 'chatTemplate' }) },
  llamacpp: { baseUrl: 'http://localhost:8080/v1', compat: defaultCompat },
  qwen: { baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1', compat: compat({ thinkingFormat: 'qwen' }) },
  moonshot: { baseUrl: 'https://api.moonshot.ai/v1', compat: compat({ thinkingFormat: 'deepSeek' }), capabilities: thinks },
  zai: { baseUrl: 'https://api.z.ai/api/paas/v4', compat: compat({ thinkingFormat: 'deepSeek' }), capabilities: thinks },
} as const satisfies Record<string, Backend>

/** Which backend `openaiCompatible` speaks to: a name of `compatPresets`. */
export type BackendName = keyof typeof compatPresets

/** What is known of the service behind `model`; the configuration's own `compat` decides over the preset's. */
export function backendOf(model: ModelConfig): Backend {
  const known: Backend | undefined = isBackendName(model.provider) ? compatPresets[model.provider] : undefined
  return { baseUrl: model.baseUrl, ...known, compat: model.compat ?? known?.compat ?? defaultCompat }
}

function isBackendName(provider: string): provider is BackendName {
  return Object.hasOwn(compatPresets, provider)
}
