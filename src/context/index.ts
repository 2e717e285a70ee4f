/**
 * What of a history is sent to a model: token estimates, compaction, pruning, going back, and where each part of a request came from. Pure
 * functions over messages; an agent uses them by itself.
 *
 * @example
 * ```ts
 * const agent = new Agent({ model, contextConfig: { compaction: { strategy: llmCompaction({ model: smallModel }) } } })
 * ```
 */
export { compactMessages } from './compact-messages.ts'
export { defaultCompaction } from './compaction/default-compaction.ts'
export { type LlmCompactionOptions, llmCompaction } from './compaction/llm-compaction.ts'
export { isContextOverflow } from './context-overflow.ts'
export { ContextTracker } from './context-tracker.ts'
export { diffTurnRequests, type RequestBreak, type RequestDiff } from './request-diff.ts'
export { estimateTokens, heuristicTokenCounter, messageTokens, totalTokens } from './tokens.ts'
export { turnsOf } from './turns.ts'
export { deriveView } from './view.ts'
