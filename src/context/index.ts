/**
 * What of a history is sent to a model: token estimates, compaction, pruning, going back, and where each part of a request came from. Pure
 * functions over messages; an agent uses them by itself.
 *
 * @example
 * ```ts
 * const agent = new Agent({ model, contextConfig: { compaction: { strategy: llmCompaction({ model: smallModel }) } } })
 * ```
 */

export { PartialJson, parsePartialJson } from '../base/json/partial-json.ts'
export type {
  CompactedSection,
  CompactionOverlay,
  ContextChange,
  ContextState,
  PruneRecord,
  RevertCategory,
  RevertPolicy,
  RevertRecord,
  TurnSpan,
} from '../contract/context/context-change.ts'
export type { BlockProvenance, ProvenanceRole } from '../contract/message/identity.ts'
export {
  type ExtensionMessage,
  extensionMessage,
  isLlmMessage,
  type LlmMessage,
  type MessageEnvelope,
  type TurnId,
} from '../contract/message/message.ts'
export type { AnnotatedRequest, CapturedHttp } from '../contract/model/request.ts'
export { cacheHitRate, combineUsage, contextTokensOf, emptyUsage, hasRates, unknownCost } from '../contract/model/usage.ts'
export type {
  CompactionConfig,
  CompactionInput,
  CompactionScope,
  CompactionStrategy,
  ContextConfig,
  TokenCounter,
} from '../types/context/compaction.ts'
export { compactMessages } from './compaction/compact-messages.ts'
export { defaultCompaction } from './compaction/default-compaction.ts'
export { type LlmCompactionOptions, llmCompaction } from './compaction/llm-compaction.ts'
export { summaryMessage } from './compaction/summary-lines.ts'
export { extractJson } from './extract-json.ts'
export { diffTurnRequests, type RequestBreak, type RequestDiff } from './requests/request-diff.ts'
export { compactsAt, contextLimitOf, type ModelLimits } from './tokens/context-limits.ts'
export { estimateTokens, heuristicTokenCounter, messageTokens, totalTokens } from './tokens/estimate.ts'
export { tokenCounterFor } from './tokens/media-tokens.ts'
export { ContextTracker, isContextOverflow } from './tokens/prompt-size.ts'
export { type ContextTranslation, defaultContextTranslation } from './translation.ts'
export { deriveView } from './view/derive-view.ts'
export { turnsOf } from './view/turns.ts'
