import { isContextOverflowText } from '../../base/text/overflow-text.ts'
import type { ContextState } from '../../contract/context/context-change.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import { contextTokensOf, type Usage } from '../../contract/model/usage.ts'
import type { TokenCounter } from '../../types/context/compaction.ts'
import { heuristicTokenCounter, messageTokens, totalTokens } from './estimate.ts'

/** How large a prompt is. */
export interface PromptSize {
  /** Of the messages alone, estimated. */
  messageTokens: number
  /** Of all that is sent: what the service counted and an estimate of what came since, or our own estimate where that is more. */
  promptTokens: number
}

/** What a service counted at an answer, and our estimate of the messages up to there. */
interface Counted {
  reported: number
  estimated: number
}

/**
 * How large the prompts of one growing conversation are.
 *
 * **Contract**
 * - A count of the service has everything in it: system prompt, tools, messages, and the answer. To our own estimate of the messages
 *   `systemPromptTokens` are added. The larger of the two holds: a service that reports too little does not hide how much is sent.
 * - Answers from before the last change of `state` were made of something else: their counts are not used.
 * - What was measured before is not measured again: where `view` only grew, the cost is that of the new messages.
 *
 * Source: docs/concepts/context.md
 */
export class PromptMeter {
  readonly #counter: TokenCounter
  readonly #systemPromptTokens: number
  readonly #messages: RunningTotal
  #state: ContextState | undefined
  #counted: Counted | undefined

  constructor({ counter, systemPromptTokens }: { counter: TokenCounter; systemPromptTokens: number }) {
    this.#counter = counter
    this.#systemPromptTokens = systemPromptTokens
    this.#messages = new RunningTotal(counter)
  }

  /** Measures `view`, what is sent of a history whose state is `state`. */
  measure(view: readonly AgentMessage[], state: ContextState): PromptSize {
    if (state !== this.#state) this.#messages.reset()
    this.#state = state
    const from = this.#messages.unchanged(view)
    if (from === 0) this.#counted = undefined
    const tokens = this.#messages.of(view)
    this.#count(view, from, state)
    const reported = this.#counted === undefined ? 0 : this.#counted.reported + tokens - this.#counted.estimated
    return { messageTokens: tokens, promptTokens: Math.max(this.#systemPromptTokens + tokens, reported) }
  }

  /** Looks for the last count among the messages from `from` on, backwards. */
  #count(view: readonly AgentMessage[], from: number, state: ContextState): void {
    const changedAt = countedFrom(state)
    let later = 0
    for (let at = view.length - 1; at >= from; at -= 1) {
      const message = view[at]
      if (message === undefined) continue
      const reported = message.role === 'assistant' && message.timestamp >= changedAt ? countedTokens(message) : 0
      if (reported > 0) {
        this.#counted = { reported, estimated: this.#messages.tokens - later }
        return
      }
      later += messageTokens(message, this.#counter)
    }
  }
}

/**
 * How many tokens a conversation takes: what the service counted at its last answer, plus an estimate of what came since; our own estimate of
 * everything where that is more.
 *
 * **Contract**: after messages before the last recorded answer were removed or replaced, call `reset`.
 */
export class ContextTracker {
  readonly #counter: TokenCounter
  readonly #all: RunningTotal
  #tokens = 0
  #counted = 0

  constructor(counter: TokenCounter = heuristicTokenCounter) {
    this.#counter = counter
    this.#all = new RunningTotal(counter)
  }

  /** The answer at position `index` was made of a prompt of this size, and is part of the next one. A usage of zeros says nothing. */
  recordUsage(usage: Usage, index: number): void {
    const tokens = contextTokensOf(usage)
    if (tokens === 0) return
    this.#tokens = tokens
    this.#counted = index + 1
  }

  /** Tokens of these messages as a prompt. */
  estimate(messages: readonly AgentMessage[]): number {
    return Math.max(this.#tokens + totalTokens(messages, this.#counter, this.#counted), this.#all.of(messages))
  }

  /** Forgets what was recorded: everything is estimated again. */
  reset(): void {
    this.#tokens = 0
    this.#counted = 0
  }
}

/**
 * Whether `message` is an answer that failed because the prompt did not fit the model's context. Compact, then ask again.
 *
 * Source: docs/concepts/context.md
 */
export function isContextOverflow(message: AgentMessage): boolean {
  if (message.role !== 'assistant' || message.stopReason !== 'error') return false
  return isContextOverflowText(message.errorMessage ?? '')
}

/** The estimate of one list that grows; lists are compared by reference, message by message. */
class RunningTotal {
  tokens = 0
  readonly #counter: TokenCounter
  #messages: readonly AgentMessage[] = []
  #length = 0
  #last: AgentMessage | undefined

  constructor(counter: TokenCounter) {
    this.#counter = counter
  }

  of(messages: readonly AgentMessage[]): number {
    const from = this.unchanged(messages)
    if (from === 0) this.tokens = 0
    this.tokens += totalTokens(messages, this.#counter, from)
    this.#messages = messages
    this.#length = messages.length
    this.#last = messages.at(-1)
    return this.tokens
  }

  /** How many messages at the beginning were measured already: all that were there, or none. */
  unchanged(messages: readonly AgentMessage[]): number {
    const length = this.#length
    if (messages.length < length || (length > 0 && messages[length - 1] !== this.#last)) return 0
    // The same list has grown at its end; another one may have changed anywhere.
    if (messages === this.#messages) return length
    for (let at = 0; at < length; at += 1) if (messages[at] !== this.#messages[at]) return 0
    return length
  }

  reset(): void {
    this.#messages = []
    this.#length = 0
    this.#last = undefined
  }
}

/** Prompt and answer of one call; 0 for an answer that failed, whose prompt may not have been read to its end. */
function countedTokens({ stopReason, usage }: Extract<AgentMessage, { role: 'assistant' }>): number {
  return stopReason === 'error' || stopReason === 'aborted' ? 0 : contextTokensOf(usage)
}

/**
 * Since when answers were made of what is sent now, epoch ms. The answer of a compaction's turn comes after it, that of a prune's or
 * revert's turn before: within one millisecond it does not count.
 */
function countedFrom({ overlay, prunes = [], reverts = [] }: ContextState): number {
  return Math.max(overlay?.createdAt ?? 0, 1 + (prunes.at(-1)?.at ?? 0), 1 + (reverts.at(-1)?.at ?? 0))
}
