import type { JsonObject } from '../../../contract/json.ts'
import type { ThinkingContent } from '../../../contract/message/content.ts'
import type { Message } from '../../../contract/message/message.ts'
import type { ModelCapabilities } from '../../../contract/model/model-config.ts'
import type { StreamRequest } from '../../../types/model/provider.ts'
import { adjusted, answerRoom, effortFor, leaveOut, levelBudgets } from '../settings/write-settings.ts'
import { outputLimit } from './capabilities.ts'

/** The service refuses less. Source: docs/providers/anthropic.md */
const leastBudget = 1024

/** Whether Claude takes this reasoning back: without its signature it is refused. */
export function isSigned(block: ThinkingContent): boolean {
  return block.signature !== undefined || typeof block.providerState?.payload.redacted === 'string'
}

/** Whether a turn goes on whose answer does not begin with reasoning. `messages` are normalised. */
export function continuesWithoutThinking(messages: readonly Message[]): boolean {
  if (messages.at(-1)?.role !== 'toolResult') return false
  const answer = messages.findLast((message) => message.role === 'assistant')
  return answer?.content[0]?.type !== 'thinking'
}

/**
 * The fields of a request that depend on how a model thinks: `max_tokens`, `thinking`, `output_config`. What had to be left
 * out is added to `warnings`. `hasUnsignedTurn`: the answer being continued does not start with thinking, which a budget needs.
 */
export function generationFields(
  request: StreamRequest,
  capabilities: ModelCapabilities,
  hasUnsignedTurn: boolean,
  warnings: string[],
): JsonObject {
  const { thinking: level, thinkingBudget } = request
  const fields: JsonObject = { max_tokens: outputLimit(request, capabilities) }
  if (capabilities.thinking === 'budget') {
    const budget = thinkingBudget ?? (level === 'off' ? undefined : levelBudgets[level])
    if (budget !== undefined) addBudget(fields, request, budget, hasUnsignedTurn, warnings)
  } else if (capabilities.thinking !== 'none') {
    if (thinkingBudget !== undefined) leaveOut(request, 'thinkingBudget', 'thinks by effort: set thinking', warnings)
    addAdaptive(fields, request, capabilities, warnings)
  } else {
    if (level !== 'off') leaveOut(request, `thinking level ${level}`, 'does not think', warnings)
    if (thinkingBudget !== undefined) leaveOut(request, 'thinkingBudget', 'does not think', warnings)
  }
  return fields
}

/** Why no `temperature` and the like go with these fields. */
export function whyNoSampling({ thinking }: JsonObject): string | undefined {
  return thinking !== undefined && JSON.stringify(thinking) !== '{"type":"disabled"}' ? 'while it thinks' : undefined
}

function addBudget(fields: JsonObject, request: StreamRequest, asked: number, hasUnsignedTurn: boolean, warnings: string[]): void {
  if (hasUnsignedTurn) {
    warnings.push('thinking left out of this turn: the answer being continued has none that can be sent back')
    return
  }
  const budget = Math.max(leastBudget, asked)
  if (budget > (request.thinkingBudget ?? budget)) adjusted(request, `thinkingBudget raised from ${asked} to ${budget}`, warnings)
  const wanted = Number(fields.max_tokens)
  if (wanted <= budget) {
    // Below what any model with budgets can produce.
    fields.max_tokens = budget + Math.min(wanted, answerRoom)
    const raised = `max_tokens raised from ${wanted} to ${fields.max_tokens}: it must exceed the thinking budget of ${budget}`
    // The default is nobody's wish.
    adjusted(request.maxTokens === undefined ? {} : request, raised, warnings)
  }
  fields.thinking = { type: 'enabled', budget_tokens: budget, ...displayOf(request) }
}

function displayOf({ thinkingSummary }: StreamRequest): JsonObject {
  return thinkingSummary === undefined ? {} : { display: thinkingSummary === 'none' ? 'omitted' : 'summarized' }
}

function addAdaptive(fields: JsonObject, request: StreamRequest, capabilities: ModelCapabilities, warnings: string[]): void {
  const { thinking: level } = request
  if (level === 'off' && capabilities.thinkingOff) {
    fields.thinking = { type: 'disabled' }
    return
  }
  // Recent models withhold the text of their thinking unless asked.
  if (level !== 'off') fields.thinking = { type: 'adaptive', display: 'summarized', ...displayOf(request) }
  const effort = level === 'off' ? capabilities.efforts[0] : effortFor(request, capabilities, warnings)
  if (effort !== undefined) fields.output_config = { effort }
}
