import type { ModelCapabilities, OpenAiCompat } from '../../contract/model/model-config.ts'
import { type Backend, chatAddresses, defaultCompat, hostOf, openAiBackend } from './compat.ts'

function compat(deviations: Partial<OpenAiCompat>): OpenAiCompat {
  return { ...defaultCompat, ...deviations }
}

const thinks: Partial<ModelCapabilities> = { thinking: 'adaptive', thinkingOff: true }

/** Capabilities for providers whose models accept only text. */
const textOnly: Partial<ModelCapabilities> = { media: [] }

const kimi = {
  baseUrl: chatAddresses.moonshot,
  apiKeyVariable: 'MOONSHOT_API_KEY',
  compat: compat({ supportsReasoningEffort: true, thinkingFormat: 'deepSeek' }),
  thinks: true,
} as const satisfies Backend

/**
 * Known backends by provider name, for `openaiCompatible(id, { backend })` and configuration files.
 * Source: docs/providers/openai.md
 */
export const compatPresets = {
  openai: openAiBackend,
  openrouter: {
    baseUrl: chatAddresses.openrouter,
    apiKeyVariable: 'OPENROUTER_API_KEY',
    compat: compat({ supportsDeveloperRole: true, thinkingFormat: 'openRouter' }),
  },
  xai: { baseUrl: chatAddresses.xai, apiKeyVariable: 'XAI_API_KEY', compat: compat({ thinkingFormat: 'xai' }) },
  groq: { baseUrl: chatAddresses.groq, apiKeyVariable: 'GROQ_API_KEY', compat: defaultCompat },
  cerebras: {
    baseUrl: chatAddresses.cerebras,
    apiKeyVariable: 'CEREBRAS_API_KEY',
    compat: compat({ supportsReasoningEffort: true, maxTokensField: 'maxCompletionTokens' }),
    capabilities: textOnly,
  },
  mistral: {
    baseUrl: chatAddresses.mistral,
    apiKeyVariable: 'MISTRAL_API_KEY',
    compat: compat({ supportsReasoningEffort: true, requiresToolResultName: true, requiresAssistantAfterToolResult: true }),
    capabilities: { efforts: ['none', 'high'], thinkingOff: true },
  },
  deepseek: {
    baseUrl: chatAddresses.deepseek,
    apiKeyVariable: 'DEEPSEEK_API_KEY',
    compat: compat({ supportsReasoningEffort: true, thinkingFormat: 'deepSeek' }),
    // DeepSeek supports JSON mode but no schemas.
    capabilities: { ...thinks, ...textOnly, efforts: ['low', 'high', 'max'], jsonSchema: false },
  },
  together: { baseUrl: chatAddresses.together, apiKeyVariable: 'TOGETHER_API_KEY', compat: compat({ thinkingFormat: 'together' }) },
  fireworks: {
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    apiKeyVariable: 'FIREWORKS_API_KEY',
    compat: compat({ supportsReasoningEffort: true }),
  },
  ollama: { baseUrl: 'http://localhost:11434/v1', compat: defaultCompat, isLocal: true },
  lmstudio: { baseUrl: 'http://localhost:1234/v1', compat: defaultCompat, isLocal: true },
  vllm: { baseUrl: 'http://localhost:8000/v1', compat: compat({ thinkingFormat: 'chatTemplate' }), isLocal: true },
  llamacpp: { baseUrl: 'http://localhost:8080/v1', compat: defaultCompat, isLocal: true },
  qwen: {
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    apiKeyVariable: 'DASHSCOPE_API_KEY',
    compat: compat({ thinkingFormat: 'qwen' }),
  },
  moonshot: kimi,
  kimi,
  // MiniMax's Anthropic protocol supports more: anthropic(id, { baseUrl: 'https://api.minimax.io/anthropic' }).
  minimax: { baseUrl: chatAddresses.minimax, apiKeyVariable: 'MINIMAX_API_KEY', compat: defaultCompat },
  zai: {
    baseUrl: chatAddresses.zai,
    apiKeyVariable: 'ZAI_API_KEY',
    compat: compat({ thinkingFormat: 'deepSeek' }),
    capabilities: { ...thinks, jsonSchema: false },
  },
  copilot: {
    baseUrl: chatAddresses.copilot,
    apiKeyVariable: 'COPILOT_API_KEY',
    compat: defaultCompat,
    // GitHub Copilot requires an editor name in each call.
    headers: {
      'copilot-integration-id': 'vscode-chat',
      'editor-version': 'vscode/1.107.0',
      'editor-plugin-version': 'copilot-chat/0.35.0',
      'openai-intent': 'conversation-edits',
    },
  },
} as const satisfies Record<string, Backend>

/** A backend of `openaiCompatible`: a key of `compatPresets`. */
export type BackendName = keyof typeof compatPresets

const names = Object.keys(compatPresets) as BackendName[] // Keys of the object itself.

/** Returns the preset backend at `baseUrl`, if any. */
export function backendAt(baseUrl: string | undefined): BackendName | undefined {
  const host = baseUrl === undefined ? '' : hostOf(baseUrl)
  return host === '' ? undefined : names.find((name) => hostOf(compatPresets[name].baseUrl) === host)
}
