import type { ModelCapabilities, ModelConfig } from '../../types/model-config.ts'
import { type CapabilityRow, capabilitiesOf } from '../shared/capabilities.ts'
import { budgetClaude, claudeTable, newestClaude } from '../shared/claude-capabilities.ts'

/** Other models behind this protocol know the oldest form of thinking, if any. */
const table: readonly CapabilityRow[] = [{ ids: /^(?!.*claude)/i, capabilities: budgetClaude }, ...claudeTable]

/** What the Anthropic Messages service accepts for `model`. */
export function anthropicCapabilities(model: ModelConfig): ModelCapabilities {
  const capabilities = capabilitiesOf(model, table, newestClaude)
  const saysNone = !model.reasoning && model.capabilities?.thinking === undefined
  return saysNone ? { ...capabilities, thinking: 'none' } : capabilities
}
