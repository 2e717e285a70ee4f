import type { ModelConfig, OpenAiCompat } from '../../contract/model/model-config.ts'
import type { ModelProfile } from '../kit/capabilities/capabilities.ts'
import type { ToolChoiceRules } from '../kit/settings/tool-choice.ts'
import type { SettingRules } from '../kit/settings/write-settings.ts'
import { chatCapabilities, isOpenAiModel, toolLimit } from './capabilities.ts'
import { compatOf } from './compat.ts'
import type { MessageRules } from './encode-message.ts'
import { isKimi } from './model-families.ts'
import { chatSettingRules } from './setting-rules.ts'

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
  settingRules: SettingRules
  toolRules: ToolChoiceRules
}

/** The profile of `model`. */
export function chatProfile(model: ModelConfig): ChatProfile {
  const compat = compatOf(model)
  const capabilities = chatCapabilities(model, compat)
  const demandsReasoning = compat.thinkingFormat === 'deepSeek' && capabilities.thinking !== 'none'
  const schema = capabilities.jsonSchema ? { jsonSchema: 'openAiFormat' as const, strictSchema: 'openAiStrict' as const } : {}
  return {
    capabilities,
    compat,
    systemRole: compat.supportsDeveloperRole && takesDeveloper(model, compat) ? 'developer' : 'system',
    settingRules: chatSettingRules(model, compat, capabilities.thinking !== 'none'),
    // Backends know a list of allowed tools only where they follow OpenAI closely.
    toolRules: {
      none: true,
      subset: isOpenAiModel(model, compat),
      forcingStopsThinking: compat.thinkingFormat === 'deepSeek',
      ...(isOpenAiModel(model, compat) && { maxTools: toolLimit }),
    },
    emptyBodyIsOverflow: model.provider === 'cerebras' || model.provider === 'mistral',
    isCopilot: model.provider === 'copilot' || /\.githubcopilot\.com(\/|$)/.test(model.baseUrl),
    toolSchemas: isKimi(model) ? 'moonshotTools' : 'openAiTools',
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
      documentsByUrl: model.provider === 'mistral',
      namesToolResults: compat.requiresToolResultName,
      // Others may know text only.
      refusals: isOpenAiModel(model, compat),
      parsedFilesOf: compat.thinkingFormat === 'openRouter' ? model.id : undefined,
      answersBeforeUser: compat.requiresAssistantAfterToolResult,
      reasoningField: demandsReasoning ? 'reasoning_content' : reasoningFieldOf(model, compat),
      reasoningWith: demandsReasoning ? 'all' : model.provider === 'cerebras' ? 'any' : 'calls',
    },
  }
}

/** Backends that do not take reasoning as text: it is secret, in details or parts of its own, or refused. */
const withoutReasoningText = new Set(['openai', 'openrouter', 'xai', 'mistral', 'copilot'])
/** Those that call it `reasoning`; all others follow DeepSeek. Source: docs/providers/openai.md */
const withReasoning = new Set(['cerebras', 'groq', 'together', 'ollama', 'vllm'])

/** The field in which a backend gives its reasoning, and takes it back. */
function reasoningFieldOf({ provider }: ModelConfig, { thinkingFormat }: OpenAiCompat): MessageRules['reasoningField'] {
  if (withoutReasoningText.has(provider) || thinkingFormat === 'openRouter') return undefined
  return withReasoning.has(provider) ? 'reasoning' : 'reasoning_content'
}

/** OpenRouter hands the role on to the vendor, and only two know it. */
function takesDeveloper(model: ModelConfig, compat: OpenAiCompat): boolean {
  return compat.thinkingFormat !== 'openRouter' || /^(openai|anthropic)\//.test(model.id)
}
