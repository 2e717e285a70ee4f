import type { AgentMessage, Message } from '../../contract/message/message.ts'
import type { Budget } from '../run/budget.ts'

/** Estimates tokens. Must be fast and deterministic: estimates are cached per message object. */
export interface TokenCounter {
  /** Returns the tokens of a text. */
  text(text: string): number
  /** Returns the tokens of a whole message, including the overhead that a provider adds. */
  message(message: AgentMessage): number
}

/**
 * Selects how many loops before the recent turns are summarised. Older loops that were never summarised are left out.
 *
 * - `fixedCount`: this many loops.
 * - `tokenBudget`: as many as fit in `maxContextTokens`.
 *
 * Source: docs/concepts/context.md
 */
export type CompactionScope = { type: 'fixedCount'; count: number } | { type: 'tokenBudget' }

/** Settings of compaction. Source: docs/concepts/context.md */
export interface CompactionConfig {
  /** Share of `maxContextTokens` that a prompt may use, 0 to 1. Default: 0.90. */
  compactAtPct: number
  /** Share of `maxContextTokens` that must stay free below that, 0 to 1. Default: 0.05. */
  compactBudgetThresholdPct: number
  /** Default: 3 loops before the recent turns. */
  scope: CompactionScope
  /** Turns at the start that stay unchanged. Default: 2. */
  keepFirstTurns: number
  /** Turns at the end that stay, with long tool results shortened. Default: 10. */
  keepRecentTurns: number
  /** Maximum tokens of all summaries together. Default: 2,000. */
  maxSummaryTokens: number
  /** Lines of a tool result that stay, half from its start and half from its end. Default: 50. */
  toolOutputMaxLines: number
  /** What a summary should focus on. Only for strategies that ask a model. */
  focusMessage?: string
  /** Default: `defaultCompaction`, which needs no model. */
  strategy?: CompactionStrategy
}

/** Context window settings. Source: docs/concepts/context.md */
export interface ContextConfig {
  /**
   * Maximum tokens of a prompt. Default: the model's context window minus its output limit (at most 32,000); 100,000 if the window is
   * unknown.
   */
  maxContextTokens: number
  /** Tokens reserved for system prompt and tools. Default: 4,000, or a fifth of `maxContextTokens` if that is less. */
  systemPromptTokens: number
  /** Default: UTF-8 bytes divided by 4. */
  tokenCounter?: TokenCounter
  /** `false` disables compaction. */
  compaction?: Partial<CompactionConfig> | false
}

/** Input of a compaction strategy: one section of the history. */
export interface CompactionInput {
  /** Whole turns, oldest first. The first turn may contain summaries of an earlier compaction. */
  turns: readonly (readonly AgentMessage[])[]
  /** Options with defaults applied. */
  config: Readonly<CompactionConfig>
  counter: TokenCounter
  /** Maximum tokens of the result; the rest is truncated. */
  maxTokens: number
  /** Owned by the loop. */
  signal: AbortSignal
  /** Model calls of the strategy are charged to this budget. */
  budget: Budget
}

/** Replacement messages: messages of the history, or new ones such as `userMessage` creates. */
type SentInstead = readonly (Message | AgentMessage)[]

/**
 * Decides how each section of a history is sent. Functions may be async and may ask a model. A missing function does what
 * `defaultCompaction` does.
 *
 * **Contract**
 * - `keepFirst` returns a whole number; the others return messages in order. If a function throws or returns anything else, the loop logs
 *   `compactionStrategyFailed` with the reason and applies the default.
 * - Tool results without their calls are dropped before the request.
 * - Return a model's summary as `summaryMessage` of `phi-core/context`, so the model does not take it for user input.
 *
 * Source: docs/concepts/context.md
 */
export interface CompactionStrategy {
  /** Returns how many of these turns, counted from the first, stay unchanged. */
  keepFirst?(input: CompactionInput): number | Promise<number>
  /** Returns the replacement for the turns in the middle. */
  keepCompacted?(input: CompactionInput): SentInstead | Promise<SentInstead>
  /** Returns the replacement for the last turns. */
  keepRecent?(input: CompactionInput): SentInstead | Promise<SentInstead>
}
