import type { JsonObject } from '../../../contract/json.ts'
import type { ThinkingContent } from '../../../contract/message/content.ts'
import type { Message } from '../../../contract/message/message.ts'
import type { ModelCapabilities, ThinkingLevel } from '../../../contract/model/model-config.ts'
import type { StreamRequest } from '../../../types/model/provider.ts'
import { outputLimit } from './capabilities.ts'

/** Tokens per level; the service refuses less than 1024. Source: docs/providers/anthropic.md */
const budgets: Record<Exclude<ThinkingLevel, 'off'>, number> = { minimal: 1024, low: 1024, medium: 2048, high: 8192 }

/** Efforts per level, in words of the service. */
const efforts: Record<Exclude<ThinkingLevel, 'off'>, string> = { minimal: 'low', low: 'low', medium: 'medium', high: 'high' }

/** Room for the answer beside the thinking. A budget plus this is below what any model with budgets can produce. */
const answerRoom = 4096

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
 * The fields of a request that depend on how a model thinks: `max_tokens`, `thinking`, `output_config`, `temperature`. What had to be left
 * out is added to `warnings`. `hasUnsignedTurn`: the answer being continued does not start with thinking, which a budget needs.
 */
export function generationFields(
  request: StreamRequest,
  capabilities: ModelCapabilities,
  hasUnsignedTurn: boolean,
  warnings: string[],
): JsonObject {
  const level = request.thinkingLevel
  const fields: JsonObject = { max_tokens: outputLimit(request, capabilities) }
  if (capabilities.thinking === 'budget') {
    if (level !== 'off') addBudget(fields, budgets[level], hasUnsignedTurn, warnings)
  } else if (capabilities.thinking !== 'none') {
    addAdaptive(fields, level, capabilities)
  } else if (level !== 'off') {
    warnings.push(`thinking level ${level} left out: ${request.model.id} does not think`)
  }
  addTemperature(fields, request, capabilities, warnings)
  return fields
}

function addBudget(fields: JsonObject, budget: number, hasUnsignedTurn: boolean, warnings: string[]): void {
  if (hasUnsignedTurn) {
    warnings.push('thinking left out of this turn: the answer being continued has none that can be sent back')
    return
  }
  const wanted = Number(fields.max_tokens)
  if (wanted <= budget) {
    fields.max_tokens = budget + Math.min(wanted, answerRoom)
    warnings.push(`max_tokens raised from ${wanted} to ${fields.max_tokens}: it must exceed the thinking budget of ${budget}`)
  }
  fields.thinking = { type: 'enabled', budget_tokens: budget }
}

function addAdaptive(fields: JsonObject, level: ThinkingLevel, capabilities: ModelCapabilities): void {
  if (level === 'off' && capabilities.thinkingOff) {
    fields.thinking = { type: 'disabled' }
    return
  }
  // Recent models withhold the text of their thinking unless asked.
  if (level !== 'off') fields.thinking = { type: 'adaptive', display: 'summarized' }
  const wanted = level === 'off' ? capabilities.efforts[0] : efforts[level]
  if (wanted !== undefined && capabilities.efforts.includes(wanted)) fields.output_config = { effort: wanted }
}

function addTemperature(fields: JsonObject, request: StreamRequest, capabilities: ModelCapabilities, warnings: string[]): void {
  if (request.temperature === undefined) return
  const thinks = fields.thinking !== undefined && request.thinkingLevel !== 'off'
  if (capabilities.sampling && !thinks) fields.temperature = request.temperature
  else warnings.push(`temperature left out: ${request.model.id} does not take it${capabilities.sampling ? ' while it thinks' : ''}`)
}
