import type { ThinkingContent } from '../../contract/message/content.ts'
import type { ModelCapabilities, ModelConfig } from '../../contract/model/model-config.ts'
import { type CapabilityRow, capabilitiesOf, type ModelProfile } from '../kit/capabilities/capabilities.ts'
import { budgetClaude, claudeTable, newestClaude } from '../kit/capabilities/claude-capabilities.ts'
import { isSigned } from '../kit/capabilities/claude-thinking.ts'

const { maxOutputTokens: _, ...ofOthers } = budgetClaude
/** Other models behind this protocol know the oldest form of thinking, if any. */
const table: readonly CapabilityRow[] = [{ ids: /^(?!.*claude)/i, capabilities: ofOthers }, ...claudeTable]

/** Whether a thinking block of `model` goes back to it. Claude wants its signature; other models give none. */
export function keepsThinking({ id }: ModelConfig): (block: ThinkingContent) => boolean {
  return /claude/i.test(id) ? isSigned : () => true
}

/** The service searches among tools for the models from Claude 4 on. */
const searching = /claude(?!-(instant|v?[12]|3)(?!\d))/i

/** What the Anthropic Messages service accepts for `model`. */
export function anthropicCapabilities(model: ModelConfig): ModelCapabilities {
  const capabilities = capabilitiesOf(model, table, newestClaude)
  const toolSearch = capabilities.toolSearch ?? searching.test(model.id)
  const saysNone = !model.reasoning && model.capabilities?.thinking === undefined
  return { ...capabilities, toolSearch, ...(saysNone && { thinking: 'none' }) }
}

/**
 * What is known of `model`. The service takes schemas whose objects are closed (`output_config.format`), from the models that have it.
 * Everything else, also any JSON object, is the answer of a forced tool.
 */
export function anthropicProfile(model: ModelConfig): ModelProfile {
  const capabilities = anthropicCapabilities(model)
  const schema = capabilities.jsonSchema ? { jsonSchema: 'claudeFormat' as const } : {}
  return {
    capabilities,
    callIds: 'word64',
    pauses: true,
    citesText: true,
    toolSchemas: 'claudeTools',
    formats: { ...schema, otherwise: 'tool', forcingStopsThinking: true },
  }
}
