import type { JsonObject } from '../../contract/json.ts'
import type { OpenAiCompat } from '../../contract/model/model-config.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import { effortFor, leaveOut, levelBudgets } from '../kit/settings/write-settings.ts'
import { isOpenAiModel, toolsAndEffort } from './capabilities.ts'
import { mustThink } from './model-families.ts'
import type { ChatProfile } from './profile.ts'

/** The fields that ask for reasoning, and what the encoder has to know about them. */
export interface ReasoningRequest {
  fields: JsonObject
  /** Whether `temperature` may be sent along. */
  allowsSampling: boolean
}

/**
 * How the thinking level of `request` is asked for: an effort the model knows that is nearest to the level, or the switch of the backend. What had to be
 * left out is added to `warnings`.
 */
export function reasoningRequest(request: StreamRequest, profile: ChatProfile, warnings: string[]): ReasoningRequest {
  const { thinking: level } = request
  const { capabilities, compat } = profile
  if (capabilities.thinking === 'none') {
    const why = 'is not described as a reasoning model'
    if (level !== 'off') leaveOut(request, `thinking level ${level}`, why, warnings)
    if (request.thinkingBudget !== undefined) leaveOut(request, 'thinkingBudget', why, warnings)
    return { fields: {}, allowsSampling: capabilities.sampling }
  }
  noteUnsaid(request, compat, warnings)
  const effort = effortFor(request, capabilities, warnings)
  if (compat.thinkingFormat === 'openAi' || compat.thinkingFormat === 'xai') return byEffort(request, profile, effort, warnings)
  return { fields: bySwitch(request, profile, effort), allowsSampling: capabilities.sampling }
}

/** Two backends count what is thought, and one hides it; the others are asked by an effort or a switch alone. */
function noteUnsaid(request: StreamRequest, { thinkingFormat }: OpenAiCompat, warnings: string[]): void {
  const isRouter = thinkingFormat === 'openRouter'
  if (request.thinkingBudget !== undefined && !isRouter && thinkingFormat !== 'qwen')
    leaveOut(request, 'thinkingBudget', 'is asked to think by an effort or a switch', warnings)
  if (request.thinkingSummary !== undefined && !isRouter) leaveOut(request, 'thinkingSummary', undefined, warnings)
}

function byEffort(
  request: StreamRequest,
  { compat, capabilities, service }: ChatProfile,
  effort: string | undefined,
  warnings: string[],
): ReasoningRequest {
  const { model, tools, thinking } = request
  const rule = tools.length === 0 ? 'together' : toolsAndEffort(model)
  if (rule !== 'together' && thinking !== 'off') {
    leaveOut(request, `thinking level ${thinking}`, 'takes tools on Chat Completions only without it. Use the Responses API', warnings)
  }
  if (!compat.supportsReasoningEffort && thinking !== 'off') {
    leaveOut(request, `thinking level ${thinking}`, 'is described with compat.supportsReasoningEffort: false', warnings)
  }
  const sent = rule === 'effortNone' ? 'none' : rule === 'withoutEffort' || !compat.supportsReasoningEffort ? undefined : effort
  // OpenAI's reasoning models take a temperature at effort "none" only; other backends ignore or use it.
  const allowsSampling = capabilities.sampling && (sent === 'none' || !isOpenAiModel(model, compat))
  const fields: JsonObject = sent === undefined ? {} : { reasoning_effort: sent }
  // Groq writes the reasoning into the text unless told otherwise; the open models of OpenAI have a field for it anyway.
  if (service === 'groq' && !model.id.includes('gpt-oss')) fields.reasoning_format = thinking === 'off' ? 'hidden' : 'parsed'
  return { fields, allowsSampling }
}

function bySwitch(request: StreamRequest, { compat, capabilities }: ChatProfile, effort: string | undefined): JsonObject {
  const isForced = mustThink(request.model, capabilities)
  const { thinking: level, thinkingBudget, thinkingSummary } = request
  const isOn = level !== 'off' || thinkingBudget !== undefined
  // A model that must think refuses the switch that turns it off.
  if (isForced && !isOn && compat.thinkingFormat !== 'deepSeek') return {}
  const effortField: JsonObject = isOn && effort !== undefined ? { effort } : {}
  switch (compat.thinkingFormat) {
    case 'openRouter':
      // It takes an effort or a budget, not both.
      if (isOn)
        return {
          reasoning: { ...(thinkingBudget === undefined ? effortField : { max_tokens: thinkingBudget }), ...hidden(thinkingSummary) },
        }
      // Some models refuse to be silenced, so "off" is only sent where it is known to be legal.
      return capabilities.thinkingOff ? { reasoning: { enabled: false } } : {}
    case 'qwen':
      return isOn
        ? { enable_thinking: true, thinking_budget: thinkingBudget ?? levelBudgets[level === 'off' ? 'medium' : level] }
        : { enable_thinking: false }
    case 'deepSeek': {
      if (isForced) return compat.supportsReasoningEffort && effort !== undefined ? { reasoning_effort: effort } : {}
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

function hidden(summary: StreamRequest['thinkingSummary']): JsonObject {
  return summary === 'none' ? { exclude: true } : {}
}
