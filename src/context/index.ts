/**
 * What of a history is sent to a model: token estimates, compaction, pruning, going back, and where each part of a request came from. Pure
 * functions over messages; an agent uses them by itself.
 *
 * @example
 * ```ts
 * const agent = new Agent({ model, contextConfig: { compaction: { strategy: llmCompaction({ model: smallModel }) } } })
 * ```
 */
export { compactMessages } from './compaction/compact-messages.ts'
export { defaultCompaction } from './compaction/default-compaction.ts'
export { type LlmCompactionOptions, llmCompaction } from './compaction/llm-compaction.ts'
export { summaryMessage } from './compaction/summary-lines.ts'
export { diffTurnRequests, type RequestBreak, type RequestDiff } from './requests/request-diff.ts'
export { estimateTokens, heuristicTokenCounter, messageTokens, totalTokens } from './tokens/estimate.ts'
export { ContextTracker, isContextOverflow } from './tokens/prompt-size.ts'
export { deriveView } from './view/derive-view.ts'
export { turnsOf } from './view/turns.ts'
