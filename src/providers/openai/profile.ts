import type { ModelCapabilities, ModelConfig, OpenAiCompat } from '../../contract/model/model-config.ts'
import type { ModelProfile } from '../kit/capabilities/capabilities.ts'
import type { ToolChoiceRules } from '../kit/optional/settings/tool-choice.ts'
import type { SettingRules } from '../kit/settings/write-settings.ts'
import { chatCapabilities, isOpenAiModel, toolLimit } from './capabilities.ts'
import { compatOf, serviceBehind } from './compat.ts'
import type { MessageRules } from './encode-message.ts'
import { isKimi, isMiniMax } from './model-families.ts'
import { chatSettingRules } from './setting-rules.ts'
import type { ThinkingRules } from './thinking-fields.ts'

/** Profile of a model on Chat Completions. */
export interface ChatProfile extends ModelProfile {
  compat: OpenAiCompat
  /** Provider at the base URL, otherwise the configured provider. */
  service: string
  /** Role of the system prompt. */
  systemRole: 'developer' | 'system'
  /** Whether a 400 without a body means that the prompt is too long. */
  emptyBodyIsOverflow: boolean
  /** Whether the backend is GitHub Copilot, which uses no version in the path and requires headers that describe the request. */
  isCopilot: boolean
  /** Whether a leading `<think>` in the text is reasoning. */
  hasThinkTags: boolean
  messages: MessageRules
  settingRules: SettingRules
  toolRules: ToolChoiceRules
}

/** Returns the profile of `model`. */
export function chatProfile(model: ModelConfig): ChatProfile {
  const compat = compatOf(model)
  const capabilities = chatCapabilities(model, compat)
  const service = serviceBehind(model)
  const schema = capabilities.jsonSchema ? { jsonSchema: 'openAiFormat' as const, strictSchema: 'openAiStrict' as const } : {}
  return {
    capabilities,
    compat,
    service,
    systemRole: compat.supportsDeveloperRole && takesDeveloper(model, compat) ? 'developer' : 'system',
    settingRules: chatSettingRules(model, { service, compat, thinks: capabilities.thinking !== 'none' }),
    // Only a few backends support OpenAI's list of allowed tools.
    toolRules: {
      none: true,
      searches: true,
      subset: isOpenAiModel(model, compat),
      forcingStopsThinking: compat.thinkingFormat === 'deepSeek',
      ...(isOpenAiModel(model, compat) && { maxTools: toolLimit }),
    },
    emptyBodyIsOverflow: service === 'cerebras' || service === 'mistral',
    isCopilot: service === 'copilot' || /\.githubcopilot\.com(\/|$)/.test(model.baseUrl),
    hasThinkTags: (compat.thinkingField ?? 'received') === 'received' ? isMiniMax(model) : compat.thinkingField === 'thinkTags',
    toolSchemas: isKimi(model) ? 'moonshotTools' : 'openAiTools',
    callIds: service === 'mistral' ? 'nineChars' : 'visible40',
    formats: {
      ...schema,
      // LM Studio supports only "text" and "json_schema".
      jsonObject: model.provider === 'lmstudio' ? 'openSchema' : 'mode',
      jsonMustBeNamed: true,
      otherwise: 'tool',
      // DeepSeek and Moonshot reject a forced tool while reasoning.
      forcingStopsThinking: compat.thinkingFormat === 'deepSeek',
    },
    messages: {
      documentsByUrl: service === 'mistral',
      namesToolResults: compat.requiresToolResultName,
      // Other backends may support only text.
      refusals: isOpenAiModel(model, compat),
      parsedFilesOf: compat.thinkingFormat === 'openRouter' ? model.id : undefined,
      answersBeforeUser: compat.requiresAssistantAfterToolResult,
      thinking: thinkingRules(model, compat, capabilities),
    },
  }
}

/** Backends that never return reasoning as text, or never accept it. Reasoning received in a field is still sent back in this field. */
const withoutReasoningText = new Set(['openai', 'openrouter', 'xai', 'copilot'])
/** Backends that call the reasoning field `reasoning`. All others follow DeepSeek. Source: docs/providers/openai.md */
const withReasoning = new Set(['cerebras', 'groq', 'together', 'ollama', 'vllm'])

function thinkingRules(model: ModelConfig, compat: OpenAiCompat, { thinking }: ModelCapabilities): ThinkingRules {
  const service = serviceBehind(model)
  const isRouter = compat.thinkingFormat === 'openRouter'
  const demandsReasoning = compat.thinkingFormat === 'deepSeek' && thinking !== 'none'
  return {
    field: compat.thinkingField ?? 'received',
    otherwise: demandsReasoning ? 'reasoningContent' : isRouter ? 'none' : usualField(model, service),
    sentWith: demandsReasoning ? 'all' : service === 'cerebras' ? 'any' : 'calls',
    detailsSuffice: isRouter,
  }
}

/** Returns the reasoning field to use until a response from the backend reveals its field. */
function usualField(model: ModelConfig, service: string): ThinkingRules['otherwise'] {
  if (withoutReasoningText.has(service)) return 'none'
  if (service === 'mistral') return 'parts'
  if (isMiniMax(model)) return 'thinkTags'
  return withReasoning.has(service) ? 'reasoning' : 'reasoningContent'
}

/**
 * Returns whether the backend accepts the `developer` role. OpenRouter forwards the role to the vendor, and only two vendors support it.
 */
function takesDeveloper(model: ModelConfig, compat: OpenAiCompat): boolean {
  return compat.thinkingFormat !== 'openRouter' || /^(openai|anthropic)\//.test(model.id)
}
