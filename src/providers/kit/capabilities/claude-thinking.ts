import type { JsonObject } from '../../../contract/json.ts'
import type { ThinkingContent } from '../../../contract/message/content.ts'
import type { Message } from '../../../contract/message/message.ts'
import type { ModelCapabilities } from '../../../contract/model/model-config.ts'
import type { StreamRequest } from '../../../types/model/provider.ts'
import { adjusted, answerRoom, effortFor, leaveOut, levelBudgets } from '../settings/write-settings.ts'
import { outputLimit } from './capabilities.ts'

/** The provider's minimum thinking budget. Source: docs/providers/anthropic.md */
const leastBudget = 1024

/** Returns whether this thinking block can be sent back. Claude requires a signature. */
export function isSigned(block: ThinkingContent): boolean {
  return block.signature !== undefined || typeof block.providerState?.payload.redacted === 'string'
}

/** Returns whether the history continues a turn whose response does not start with thinking. `messages` are normalized. */
export function continuesWithoutThinking(messages: readonly Message[]): boolean {
  if (messages.at(-1)?.role !== 'toolResult') return false
  const answer = messages.findLast((message) => message.role === 'assistant')
  return answer?.content[0]?.type !== 'thinking'
}

/**
 * Returns the request fields that depend on thinking: `max_tokens`, `thinking`, `output_config`. Adds dropped settings to `warnings`.
 * `hasUnsignedTurn`: the continued response does not start with thinking, which a budget requires.
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

/** Reason why `temperature` and similar settings cannot be combined with these fields. */
export function whyNoSampling({ thinking }: JsonObject): string | undefined {
  return thinking !== undefined && JSON.stringify(thinking) !== '{"type":"disabled"}' ? 'while it thinks' : undefined
}

function addBudget(fields: JsonObject, request: StreamRequest, asked: number, hasUnsignedTurn: boolean, warnings: string[]): void {
  if (hasUnsignedTurn) {
    warnings.push('thinking omitted in this turn: the continued response has none that can be sent back')
    return
  }
  const budget = Math.max(leastBudget, asked)
  if (budget > (request.thinkingBudget ?? budget)) adjusted(request, `thinkingBudget raised from ${asked} to ${budget}`, warnings)
  const wanted = Number(fields.max_tokens)
  if (wanted <= budget) {
    // The limit is below the minimum thinking budget of every model.
    fields.max_tokens = budget + Math.min(wanted, answerRoom)
    const raised = `max_tokens raised from ${wanted} to ${fields.max_tokens}: it must exceed the thinking budget of ${budget}`
    // The caller did not set a limit explicitly, so do not warn.
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
  // Recent models omit thinking text unless it is requested.
  if (level !== 'off') fields.thinking = { type: 'adaptive', display: 'summarized', ...displayOf(request) }
  const effort = level === 'off' ? capabilities.efforts[0] : effortFor(request, capabilities, warnings)
  if (effort !== undefined) fields.output_config = { effort }
}
