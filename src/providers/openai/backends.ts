import type { ModelCapabilities, OpenAiCompat } from '../../types/model.ts'
import { type Backend, defaultCompat, openAiBackend } from './compat.ts'

function compat(deviations: Partial<OpenAiCompat>): OpenAiCompat {
  return { ...defaultCompat, ...deviations }
}

const thinks: Partial<ModelCapabilities> = { thinking: 'adaptive', thinkingOff: true }

/**
 * Known backends by provider name, for `openaiCompatible(id, { backend })` and for configurations written by hand.
 * Source: reference/providers.md §2 "Compatible backends".
 */
export const compatPresets = {
  openai: openAiBackend,
  openrouter: {
    baseUrl: 'https://openrouter.ai/api/v1',
    compat: compat({ supportsDeveloperRole: true, thinkingFormat: 'openRouter' }),
  },
  xai: { baseUrl: 'https://api.x.ai/v1', compat: compat({ thinkingFormat: 'xai' }) },
  groq: { baseUrl: 'https://api.groq.com/openai/v1', compat: defaultCompat },
  cerebras: {
    baseUrl: 'https://api.cerebras.ai/v1',
    compat: compat({ supportsReasoningEffort: true, maxTokensField: 'maxCompletionTokens' }),
  },
  mistral: {
    baseUrl: 'https://api.mistral.ai/v1',
    compat: compat({ supportsReasoningEffort: true, requiresToolResultName: true, requiresAssistantAfterToolResult: true }),
    capabilities: { efforts: ['none', 'high'], thinkingOff: true },
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
