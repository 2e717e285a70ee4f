/**
 * Derives the request from a history: token estimates, compaction, pruning, reverting and provenance. These are pure functions over
 * messages. An agent applies them automatically.
 *
 * @example
 * ```ts
 * const agent = new Agent({ model, contextConfig: { compaction: { strategy: llmCompaction({ model: smallModel }) } } })
 * ```
 */

export { PartialJson, parsePartialJson } from './base/json/partial-json.ts'
export { compactMessages } from './context/compaction/compact-messages.ts'
export { defaultCompaction } from './context/compaction/default-compaction.ts'
export { llmCompaction } from './context/compaction/llm-compaction.ts'
export { summaryMessage } from './context/compaction/summary-lines.ts'
export { extractJson } from './context/extract-json.ts'
export { diffTurnRequests, type RequestBreak, type RequestDiff } from './context/requests/request-diff.ts'
export { compactsAt, contextLimitOf, type ModelLimits } from './context/tokens/context-limits.ts'
export { estimateTokens, heuristicTokenCounter, messageTokens, totalTokens } from './context/tokens/estimate.ts'
export { tokenCounterFor } from './context/tokens/media-tokens.ts'
export { ContextTracker, isContextOverflow } from './context/tokens/prompt-size.ts'
export { type ContextTranslation, defaultContextTranslation } from './context/translation.ts'
export { deriveView } from './context/view/derive-view.ts'
export { turnsOf } from './context/view/turns.ts'
export type { CompactionOverlay, ContextState } from './contract/context/context-change.ts'
export type { BlockProvenance, ProvenanceRole } from './contract/message/identity.ts'
export { type ExtensionMessage, extensionMessage, isLlmMessage, type LlmMessage } from './contract/message/message.ts'
export type { AnnotatedRequest } from './contract/model/request.ts'
export { cacheHitRate, combineUsage, contextTokensOf, emptyUsage, hasRates, unknownCost } from './contract/model/usage.ts'
export type {
  CompactionConfig,
  CompactionInput,
  CompactionScope,
  CompactionStrategy,
  ContextConfig,
  TokenCounter,
} from './types/context/compaction.ts'
