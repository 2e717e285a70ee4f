import type { JsonObject } from '../../contract/json.ts'
import type { ThinkingLevel } from '../../contract/model/model-config.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import { isOpenAiModel, toolsAndEffort } from './capabilities.ts'
import type { ChatProfile } from './profile.ts'

/** Efforts of all services, weakest first. */
const ranks = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/** Token budgets of backends that count instead of naming an effort. Source: docs/providers/openai.md */
const budgets: { readonly [level in Exclude<ThinkingLevel, 'off'>]: number } = { minimal: 128, low: 512, medium: 2048, high: 8192 }

/** The fields that ask for reasoning, and what the encoder has to know about them. */
export interface ReasoningRequest {
  fields: JsonObject
  /** Whether `temperature` may be sent along. */
  allowsSampling: boolean
  warnings: readonly string[]
}

/**
 * How the thinking level of `request` is asked for: an effort the model knows that is nearest to the level, or the switch of the backend.
 */
export function reasoningRequest(request: StreamRequest, profile: ChatProfile): ReasoningRequest {
  const { thinkingLevel: level, model } = request
  const { capabilities, compat } = profile
  if (capabilities.thinking === 'none') {
    const warnings = level === 'off' ? [] : [`thinkingLevel "${level}" was left out: ${model.id} is not described as a reasoning model.`]
    return { fields: {}, allowsSampling: capabilities.sampling, warnings }
  }
  const effort = effortFor(level, capabilities.efforts, capabilities.thinking === 'alwaysOn')
  if (compat.thinkingFormat === 'openAi' || compat.thinkingFormat === 'xai') return byEffort(request, profile, effort)
  const fields = bySwitch(request, profile, effort)
  return { fields, allowsSampling: capabilities.sampling, warnings: [] }
}

/** The effort nearest to `level`, rather stronger than weaker; `undefined` where it is best left to the model. */
export function effortFor(level: ThinkingLevel, efforts: readonly string[], isAlwaysOn: boolean): string | undefined {
  if (level === 'off') return efforts.includes('none') ? 'none' : isAlwaysOn ? efforts[0] : undefined
  const thinking = efforts.filter((effort) => effort !== 'none')
  return thinking.find((effort) => ranks.indexOf(effort) >= ranks.indexOf(level)) ?? thinking.at(-1)
}

function byEffort(request: StreamRequest, { compat, capabilities }: ChatProfile, effort: string | undefined): ReasoningRequest {
  const { model, tools, thinkingLevel } = request
  const warnings: string[] = []
  const rule = tools.length === 0 ? 'together' : toolsAndEffort(model)
  if (rule !== 'together' && thinkingLevel !== 'off') {
    warnings.push(
      `thinkingLevel "${thinkingLevel}" was left out: ${model.id} takes tools on Chat Completions only without it. Use the Responses API.`,
    )
  }
  if (!compat.supportsReasoningEffort && thinkingLevel !== 'off') {
    warnings.push(`thinkingLevel "${thinkingLevel}" was left out: compat.supportsReasoningEffort is false for ${model.id}.`)
  }
  const sent = rule === 'effortNone' ? 'none' : rule === 'withoutEffort' || !compat.supportsReasoningEffort ? undefined : effort
  // OpenAI's reasoning models take a temperature at effort "none" only; other backends ignore or use it.
  const allowsSampling = capabilities.sampling && (sent === 'none' || !isOpenAiModel(model, compat))
  const fields: JsonObject = sent === undefined ? {} : { reasoning_effort: sent }
  // Groq writes the reasoning into the text unless told otherwise; the open models of OpenAI have a field for it anyway.
  if (model.provider === 'groq' && !model.id.includes('gpt-oss')) fields.reasoning_format = thinkingLevel === 'off' ? 'hidden' : 'parsed'
  return { fields, allowsSampling, warnings }
}

function bySwitch({ thinkingLevel: level }: StreamRequest, { compat, capabilities }: ChatProfile, effort: string | undefined): JsonObject {
  const isOn = level !== 'off'
  const effortField: JsonObject = isOn && effort !== undefined ? { effort } : {}
  switch (compat.thinkingFormat) {
    case 'openRouter':
      if (isOn) return { reasoning: effortField }
      // Some models refuse to be silenced, so "off" is only sent where it is known to be legal.
      return capabilities.thinkingOff ? { reasoning: { enabled: false } } : {}
    case 'qwen':
      return isOn ? { enable_thinking: true, thinking_budget: budgets[level] } : { enable_thinking: false }
    case 'deepSeek': {
      const thinking = { type: isOn ? 'enabled' : 'disabled' }
      return isOn && compat.supportsReasoningEffort && effort !== undefined ? { thinking, reasoning_effort: effort } : { thinking }
    }
    case 'together':
      return { reasoning: { enabled: isOn } }
    case 'chatTemplate':
      return { chat_template_kwargs: { enable_thinking: isOn } }
    default:
      return {}
  }
}
