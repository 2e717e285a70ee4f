import type { AgentMessage, Message } from '../../contract/message/message.ts'
import type { Budget } from '../run/budget.ts'

/** Estimates tokens. Must be fast and give the same result for the same input: estimates are cached per message object. */
export interface TokenCounter {
  /** Tokens of a piece of text. */
  text(text: string): number
  /** Tokens of a whole message, with what a service adds around it. */
  message(message: AgentMessage): number
}

/**
 * How many loops are summarised, counted back from those of the recent turns; what is older and was never summarised is left out.
 * `tokenBudget`: as many as `maxContextTokens` would hold. Source: docs/concepts/context.md
 */
export type CompactionScope = { type: 'fixedCount'; count: number } | { type: 'tokenBudget' }

/** When and how a history is compacted. Source: docs/concepts/context.md */
export interface CompactionConfig {
  /** Share of `maxContextTokens` that may be used at most, 0 to 1. Default 0.90. */
  compactAtPct: number
  /** Share of `maxContextTokens` that must stay free below that. Default 0.05. */
  compactBudgetThresholdPct: number
  /** Default: 3 loops before those of the recent turns. */
  scope: CompactionScope
  /** Turns at the beginning that stay as they are. Default 2. */
  keepFirstTurns: number
  /** Turns at the end that stay, with long tool outputs cut. Default 10. */
  keepRecentTurns: number
  /** Tokens of all summaries together. Default 2,000. */
  maxSummaryTokens: number
  /** Lines of a tool output that stay; half of them from its beginning. Default 50. */
  toolOutputMaxLines: number
  /** What a summary should keep above all; for strategies that write one. */
  focusMessage?: string
  /** Default: `defaultCompaction`, which needs no model. */
  strategy?: CompactionStrategy
}

/** The room a conversation has. Source: docs/concepts/context.md */
export interface ContextConfig {
  /** Tokens of a prompt. Default: the model's window less its output limit, of which at most 32,000 are kept; 100,000 where the window is unknown. */
  maxContextTokens: number
  /** Tokens kept free for system prompt and tools. Default 4,000, and a fifth of `maxContextTokens` where that is less. */
  systemPromptTokens: number
  /** Default: UTF-8 bytes divided by 4. */
  tokenCounter?: TokenCounter
  /** `false`: never compact. */
  compaction?: Partial<CompactionConfig> | false
}

/** A section that a strategy works on. */
export interface CompactionInput {
  /** Whole turns, oldest first. The first may hold summaries of an earlier compaction. */
  turns: readonly (readonly AgentMessage[])[]
  /** With every default filled in. */
  config: Readonly<CompactionConfig>
  counter: TokenCounter
  /** Tokens the result may have; more is cut. */
  maxTokens: number
  /** Owned by the loop. */
  signal: AbortSignal
  /** Model calls of a strategy are charged here. */
  budget: Budget
}

/** What a strategy has sent instead: messages of the history, or new ones, such as `userMessage` makes. */
type SentInstead = readonly (Message | AgentMessage)[]

/**
 * What becomes of each section of a history. Each function may be async and ask a model; those left out do what `defaultCompaction` does.
 *
 * **Contract**
 * - A function that throws, or returns something else than messages of the declared shape (a whole number from `keepFirst`), is logged as
 *   `compactionStrategyFailed` with what was wrong, and the default does it instead.
 * - Messages are returned in order; results without their calls are dropped before they are sent. A summary that a model wrote belongs in
 *   `summaryMessage` of `phi-core/context`, so that it does not pass for words of the user.
 *
 * Source: docs/concepts/context.md
 */
export interface CompactionStrategy {
  /** How many of these turns, from the first, stay as they are. */
  keepFirst?(input: CompactionInput): number | Promise<number>
  /** What is sent instead of the turns in the middle. */
  keepCompacted?(input: CompactionInput): SentInstead | Promise<SentInstead>
  /** What is sent instead of the last turns. */
  keepRecent?(input: CompactionInput): SentInstead | Promise<SentInstead>
}
