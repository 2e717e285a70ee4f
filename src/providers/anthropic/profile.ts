import type { ThinkingContent } from '../../contract/message/content.ts'
import type { ModelCapabilities, ModelConfig } from '../../contract/model/model-config.ts'
import { type CapabilityRow, capabilitiesOf, type ModelProfile } from '../kit/capabilities/capabilities.ts'
import { budgetClaude, claudeTable, newestClaude } from '../kit/capabilities/claude-capabilities.ts'
import { isSigned } from '../kit/capabilities/claude-thinking.ts'

const { maxOutputTokens: _, ...ofOthers } = budgetClaude
/** Models from other vendors support at most the oldest form of thinking. */
const table: readonly CapabilityRow[] = [{ ids: /^(?!.*claude)/i, capabilities: ofOthers }, ...claudeTable]

/** Returns whether a thinking block is sent back to `model`. Claude requires its signature. Other models issue none. */
export function keepsThinking({ id }: ModelConfig): (block: ThinkingContent) => boolean {
  return /claude/i.test(id) ? isSigned : () => true
}

/** Models with tool search: Claude 4 and newer. */
const searching = /claude(?!-(instant|v?[12]|3)(?!\d))/i

/** Returns the capabilities of `model` on the Messages API. */
export function anthropicCapabilities(model: ModelConfig): ModelCapabilities {
  const capabilities = capabilitiesOf(model, table, newestClaude)
  const toolSearch = capabilities.toolSearch ?? searching.test(model.id)
  const saysNone = !model.reasoning && model.capabilities?.thinking === undefined
  return { ...capabilities, toolSearch, ...(saysNone && { thinking: 'none' }) }
}

/**
 * Returns the profile of `model`. Recent models accept schemas with closed objects (`output_config.format`). All other formats use a
 * forced tool.
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
