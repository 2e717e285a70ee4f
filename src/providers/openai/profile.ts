import type { ModelConfig, OpenAiCompat } from '../../contract/model/model-config.ts'
import type { ModelProfile } from '../kit/capabilities/capabilities.ts'
import { chatCapabilities } from './capabilities.ts'
import { compatOf } from './compat.ts'
import type { MessageRules } from './encode-message.ts'

/** What is known of one model behind Chat Completions. */
export interface ChatProfile extends ModelProfile {
  compat: OpenAiCompat
  /** Role of the system prompt. */
  systemRole: 'developer' | 'system'
  /** Answers 400 without a body when the prompt is too long. */
  emptyBodyIsOverflow: boolean
  /** GitHub Copilot: no version in its path, and headers that tell what a request is about. */
  isCopilot: boolean
  messages: MessageRules
}

/** The profile of `model`. */
export function chatProfile(model: ModelConfig): ChatProfile {
  const compat = compatOf(model)
  const capabilities = chatCapabilities(model, compat)
  const reasoningField = capabilities.thinking === 'none' ? undefined : reasoningFieldOf(model, compat)
  const schema = capabilities.jsonSchema ? { jsonSchema: 'closedIfStrict' as const } : {}
  return {
    capabilities,
    compat,
    systemRole: compat.supportsDeveloperRole && takesDeveloper(model, compat) ? 'developer' : 'system',
    emptyBodyIsOverflow: model.provider === 'cerebras' || model.provider === 'mistral',
    isCopilot: model.provider === 'copilot' || /\.githubcopilot\.com(\/|$)/.test(model.baseUrl),
    callIds: model.provider === 'mistral' ? 'nineChars' : 'visible40',
    formats: {
      ...schema,
      // LM Studio knows "text" and "json_schema" only.
      jsonObject: model.provider === 'lmstudio' ? 'openSchema' : 'mode',
      jsonMustBeNamed: true,
      otherwise: 'tool',
      // DeepSeek and Moonshot refuse a forced tool while they think.
      forcingStopsThinking: compat.thinkingFormat === 'deepSeek',
    },
    messages: {
      namesToolResults: compat.requiresToolResultName,
      answersBeforeUser: compat.requiresAssistantAfterToolResult,
      reasoningField,
    },
  }
}

/** Where a backend wants its reasoning back. */
function reasoningFieldOf({ provider }: ModelConfig, { thinkingFormat }: OpenAiCompat): MessageRules['reasoningField'] {
  if (thinkingFormat === 'deepSeek') return 'reasoning_content'
  return provider === 'cerebras' ? 'reasoning' : undefined
}

/** OpenRouter hands the role on to the vendor, and only two know it. */
function takesDeveloper(model: ModelConfig, compat: OpenAiCompat): boolean {
  return compat.thinkingFormat !== 'openRouter' || /^(openai|anthropic)\//.test(model.id)
}
