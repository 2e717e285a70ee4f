import type { TokenCounter } from '../types/compaction.ts'
import type { AgentMessage } from '../types/message.ts'
import type { Usage } from '../types/usage.ts'
import { heuristicTokenCounter, totalTokens } from './tokens.ts'

/**
 * How many tokens a conversation takes: what the service counted at its last answer, plus an estimate of what came since.
 *
 * **Contract**: `estimate` looks only at messages after the last recorded answer. After messages were removed or replaced before it, call
 * `reset`.
 *
 * Source: spec/06 "Context Tracking".
 */
export class ContextTracker {
  readonly #counter: TokenCounter
  #tokens = 0
  #counted = 0

  constructor(counter: TokenCounter = heuristicTokenCounter) {
    this.#counter = counter
  }

  /** The answer at position `index` was made of a prompt of this size, and is part of the next one. A usage of zeros says nothing. */
  recordUsage(usage: Usage, index: number): void {
    const tokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.output
    if (tokens === 0) return
    this.#tokens = tokens
    this.#counted = index + 1
  }

  /** Tokens of these messages as a prompt. */
  estimate(messages: readonly AgentMessage[]): number {
    return this.#tokens + totalTokens(messages, this.#counter, this.#counted)
  }

  /** Forgets what was recorded: everything is estimated again. */
  reset(): void {
    this.#tokens = 0
    this.#counted = 0
  }
}
