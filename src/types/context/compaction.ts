import type { AgentMessage, Message } from '../../contract/message/message.ts'
import type { Budget } from '../run/budget.ts'

/** Estimates token counts. Must be fast and deterministic, because estimates are cached per message object. */
export interface TokenCounter {
  /** Returns a text's estimated tokens. */
  text(text: string): number
  /** Returns a message's estimated tokens, including the provider's per-message overhead. */
  message(message: AgentMessage): number
}

/**
 * Limits how many of the loops before the recent turns are summarized. Older loops without a summary are omitted.
 *
 * - `fixedCount`: a fixed number of loops.
 * - `tokenBudget`: as many loops as fit in `maxContextTokens`.
 *
 * Source: docs/concepts/context.md
 */
export type CompactionScope = { type: 'fixedCount'; count: number } | { type: 'tokenBudget' }

/** Compaction settings. Source: docs/concepts/context.md */
export interface CompactionConfig {
  /** Fraction of `maxContextTokens` that a prompt may use, 0 to 1. Default: 0.90. */
  compactAtPct: number
  /** Fraction of `maxContextTokens` to keep free below the `compactAtPct` limit, 0 to 1. Default: 0.05. */
  compactBudgetThresholdPct: number
  /** Which loops to summarize. Default: 3 loops before the recent turns. */
  scope: CompactionScope
  /** Number of initial turns to keep unchanged. Default: 2. */
  keepFirstTurns: number
  /** Number of recent turns to keep, with long tool results shortened. Default: 10. */
  keepRecentTurns: number
  /** Maximum total tokens in all summaries. Default: 2,000. */
  maxSummaryTokens: number
  /** Maximum lines to keep from a tool result: half from the start, half from the end. Default: 50. */
  toolOutputMaxLines: number
  /** Topic that summaries should focus on. Used only by strategies that call a model. */
  focusMessage?: string
  /** Compaction strategy. Default: `defaultCompaction`, which calls no model. */
  strategy?: CompactionStrategy
}

/** Context window settings. Source: docs/concepts/context.md */
export interface ContextConfig {
  /**
   * Maximum prompt tokens. Default: the model's context window minus its output limit (at most 32,000), or 100,000 if the window is
   * unknown.
   */
  maxContextTokens: number
  /** Tokens reserved for system prompt and tools. Default: 4,000, or a fifth of `maxContextTokens` if less. */
  systemPromptTokens: number
  /** Token estimator. Default: UTF-8 bytes divided by 4. */
  tokenCounter?: TokenCounter
  /** Compaction settings. `false` disables compaction. */
  compaction?: Partial<CompactionConfig> | false
}

/** Input of a compaction strategy: one section of the history. */
export interface CompactionInput {
  /** Whole turns, oldest first. The first turn may contain summaries of an earlier compaction. */
  turns: readonly (readonly AgentMessage[])[]
  /** Options with defaults applied. */
  config: Readonly<CompactionConfig>
  counter: TokenCounter
  /** Maximum tokens in the result. A longer result is truncated. */
  maxTokens: number
  /** Aborts when the run is stopped. The loop owns the signal. */
  signal: AbortSignal
  /** Budget for the strategy's model calls. */
  budget: Budget
}

/** Replacement messages: history messages, or new messages such as those from `userMessage`. */
type SentInstead = readonly (Message | AgentMessage)[]

/**
 * Decides how each section of a history is sent. Functions may be async and may call a model. `defaultCompaction` supplies any missing
 * function.
 *
 * **Contract**
 * - `keepFirst` returns a whole number. The other functions return messages in order. If a function throws or returns anything else, the
 *   loop logs `compactionStrategyFailed` with the reason and applies the default.
 * - Tool results without their calls are dropped before the request.
 * - Wrap a model-written summary with `summaryMessage` from `phi-core/context`, so the model does not mistake the summary for user input.
 *
 * Source: docs/concepts/context.md
 */
export interface CompactionStrategy {
  /** Returns how many of the first turns to keep unchanged. */
  keepFirst?(input: CompactionInput): number | Promise<number>
  /** Returns the replacement for the turns between the first and the recent ones. */
  keepCompacted?(input: CompactionInput): SentInstead | Promise<SentInstead>
  /** Returns the replacement for the recent turns. */
  keepRecent?(input: CompactionInput): SentInstead | Promise<SentInstead>
}
