import type { ThinkingContent } from '../../types/content.ts'
import type { ModelCapabilities, ModelConfig, OpenAiCompat } from '../../types/model-config.ts'
import { perObject } from '../shared/encoded-cache.ts'
import { legalId, nineChars } from '../shared/legal-id.ts'
import type { NormaliseTarget } from '../shared/normalise.ts'
import { chatCapabilities } from './capabilities.ts'
import { compatOf } from './compat.ts'
import { type MessageEncoder, type MessageRules, messageEncoder } from './encode-message.ts'

/** How one model is spoken to. */
export interface Dialect {
  compat: OpenAiCompat
  capabilities: ModelCapabilities
  /** Role of the system prompt. */
  systemRole: 'developer' | 'system'
  /** Answers 400 without a body when the prompt is too long. */
  emptyBodyIsOverflow: boolean
  /** Knows the response format `json_object`. */
  hasJsonMode: boolean
  /** GitHub Copilot: no version in its path, and headers that tell what a request is about. */
  isCopilot: boolean
  target: NormaliseTarget
  encoder: MessageEncoder
}

/** The dialect of a model, made once per configuration object. */
export const dialectOf = perObject((model: ModelConfig): Dialect => {
  const compat = compatOf(model)
  const capabilities = chatCapabilities(model, compat)
  const reasoningField = capabilities.thinking === 'none' ? undefined : reasoningFieldOf(model, compat)
  return {
    compat,
    capabilities,
    systemRole: compat.supportsDeveloperRole && takesDeveloper(model, compat) ? 'developer' : 'system',
    emptyBodyIsOverflow: model.provider === 'cerebras' || model.provider === 'mistral',
    // LM Studio knows "text" and "json_schema" only.
    hasJsonMode: model.provider !== 'lmstudio',
    isCopilot: model.provider === 'copilot' || /\.githubcopilot\.com(\/|$)/.test(model.baseUrl),
    target: {
      api: 'openAiCompletions',
      provider: model.provider,
      model: model.id,
      images: capabilities.images,
      toolCallId: model.provider === 'mistral' ? nineChars : fortyChars,
      keepsThinking: (block: ThinkingContent) => reasoningField !== undefined || block.providerState !== undefined,
    },
    encoder: messageEncoder({ namesToolResults: compat.requiresToolResultName, reasoningField }),
  }
})

/** Source: reference/providers.md §0 "Target: tool id rule". */
const fortyChars = legalId('\\x21-\\x7e', 40)

/** Where a backend wants its reasoning back. Source: reference/providers.md §2 "Compatible backends". */
function reasoningFieldOf({ provider }: ModelConfig, { thinkingFormat }: OpenAiCompat): MessageRules['reasoningField'] {
  if (thinkingFormat === 'deepSeek') return 'reasoning_content'
  return provider === 'cerebras' ? 'reasoning' : undefined
}

/** OpenRouter hands the role on to the vendor, and only two know it. */
function takesDeveloper(model: ModelConfig, compat: OpenAiCompat): boolean {
  return compat.thinkingFormat !== 'openRouter' || /^(openai|anthropic)\//.test(model.id)
}
