import type { CompactionConfig, ContextConfig, TokenCounter } from '../types/compaction.ts'
import { heuristicTokenCounter } from './tokens.ts'

/** The defaults of the specification. */
const defaultCompactionConfig: CompactionConfig = {
  compactAtPct: 0.9,
  compactBudgetThresholdPct: 0.05,
  scope: { type: 'fixedCount', count: 3 },
  keepFirstTurns: 2,
  keepRecentTurns: 10,
  maxSummaryTokens: 2000,
  toolOutputMaxLines: 50,
}

/** A `ContextConfig` with every default filled in. */
export interface ResolvedContext {
  maxContextTokens: number
  systemPromptTokens: number
  counter: TokenCounter
  compaction: CompactionConfig
}

/** Fills in defaults; `undefined` where nothing is ever compacted. `contextWindow` is that of the model, in tokens. */
export function resolveContext(config: Partial<ContextConfig> | false = {}, contextWindow: number): ResolvedContext | undefined {
  if (config === false || config.compaction === false) return undefined
  return {
    maxContextTokens: config.maxContextTokens ?? Math.min(100_000, contextWindow),
    systemPromptTokens: config.systemPromptTokens ?? 4000,
    counter: config.tokenCounter ?? heuristicTokenCounter,
    compaction: { ...defaultCompactionConfig, ...config.compaction },
  }
}

/**
 * From how many tokens on a conversation is compacted: the allowed share of the window, less what system prompt and tools take.
 * Source: reference/phi-core-0.10.md §3 row 15.
 */
export function compactionTrigger({ maxContextTokens, systemPromptTokens, compaction }: ResolvedContext): number {
  const share = compaction.compactAtPct - compaction.compactBudgetThresholdPct
  // Shares are decimal fractions: their binary error must not cost a token.
  return Math.floor(maxContextTokens * share + 1e-6) - systemPromptTokens
}
