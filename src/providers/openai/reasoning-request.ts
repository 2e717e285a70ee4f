import type { JsonObject } from '../../contract/json.ts'
import type { OpenAiCompat } from '../../contract/model/model-config.ts'
import type { StreamRequest } from '../../types/model/provider.ts'
import { effortFor, leaveOut, levelBudgets } from '../kit/settings/write-settings.ts'
import { isOpenAiModel, toolsAndEffort } from './capabilities.ts'
import { mustThink } from './model-families.ts'
import type { ChatProfile } from './profile.ts'

/** Request fields for reasoning. */
export interface ReasoningRequest {
  fields: JsonObject
  /** Whether `temperature` may be sent with them. */
  allowsSampling: boolean
}

/**
 * Returns the fields for the thinking level: the nearest supported effort, or the backend's switch. Adds omitted settings to `warnings`.
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
  warnOmitted(request, compat, warnings)
  const effort = effortFor(request, capabilities, warnings)
  if (compat.thinkingFormat === 'openAi' || compat.thinkingFormat === 'xai') return byEffort(request, profile, effort, warnings)
  return { fields: bySwitch(request, profile, effort), allowsSampling: capabilities.sampling }
}

/** Warns about unsupported reasoning options. Two backends support a token budget, and one can hide reasoning. */
function warnOmitted(request: StreamRequest, { thinkingFormat }: OpenAiCompat, warnings: string[]): void {
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
    leaveOut(request, `thinking level ${thinking}`, 'supports tools on Chat Completions only without it. Use the Responses API', warnings)
  }
  if (!compat.supportsReasoningEffort && thinking !== 'off') {
    leaveOut(request, `thinking level ${thinking}`, 'is described with compat.supportsReasoningEffort: false', warnings)
  }
  const sent = rule === 'effortNone' ? 'none' : rule === 'withoutEffort' || !compat.supportsReasoningEffort ? undefined : effort
  // OpenAI's reasoning models accept a temperature only with effort "none". Other backends ignore or use it.
  const allowsSampling = capabilities.sampling && (sent === 'none' || !isOpenAiModel(model, compat))
  const fields: JsonObject = sent === undefined ? {} : { reasoning_effort: sent }
  // By default, Groq writes reasoning into the text. gpt-oss models always use a field.
  if (service === 'groq' && !model.id.includes('gpt-oss')) fields.reasoning_format = thinking === 'off' ? 'hidden' : 'parsed'
  return { fields, allowsSampling }
}

function bySwitch(request: StreamRequest, { compat, capabilities }: ChatProfile, effort: string | undefined): JsonObject {
  const isForced = mustThink(request.model, capabilities)
  const { thinking: level, thinkingBudget, thinkingSummary } = request
  const isOn = level !== 'off' || thinkingBudget !== undefined
  // Models that always reason reject the off switch.
  if (isForced && !isOn && compat.thinkingFormat !== 'deepSeek') return {}
  const effortField: JsonObject = isOn && effort !== undefined ? { effort } : {}
  switch (compat.thinkingFormat) {
    case 'openRouter':
      // The backend accepts either an effort or a budget.
      if (isOn)
        return {
          reasoning: { ...(thinkingBudget === undefined ? effortField : { max_tokens: thinkingBudget }), ...hidden(thinkingSummary) },
        }
      // Send the off switch only to models that support it.
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
