import { isContextOverflowText } from '../../base/text/overflow-text.ts'
import type { ContextState } from '../../contract/context/context-change.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import { contextTokensOf, type Usage } from '../../contract/model/usage.ts'
import type { TokenCounter } from '../../types/context/compaction.ts'
import { heuristicTokenCounter, messageTokens, totalTokens } from './estimate.ts'

/** A prompt's size. */
export interface PromptSize {
  /** Estimated tokens of the messages alone. */
  messageTokens: number
  /** Tokens of everything sent: the provider's last count plus an estimate of later messages, or the estimate of all if it is larger. */
  promptTokens: number
}

/** The provider's count at a response, and the estimate of the messages up to it. */
interface Counted {
  reported: number
  estimated: number
}

/**
 * Measures the prompts of one growing conversation.
 *
 * **Contract**
 * - A provider's count includes system prompt, tools, messages and the response. `systemPromptTokens` are added to the estimate of messages.
 *   The larger value counts, so that a provider that reports too little does not hide the real size.
 * - Counts of responses before the last change of `state` are ignored, because their prompts were different.
 * - Measured messages are not measured again: if `view` only grew, the cost is that of the new messages.
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

  /** Measures `view`, which is sent for a history with this `state`. */
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

  /** Finds the last count among the messages from index `from`, backwards. */
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
 * Counts a conversation's tokens: the provider's last count plus an estimate of later messages. If the estimate of all messages is larger,
 * that counts.
 *
 * **Contract**: call `reset` after messages before the last recorded response were removed or replaced.
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

  /** Records the prompt size of the response at `index`, which is part of the next prompt. A usage of zeros is ignored. */
  recordUsage(usage: Usage, index: number): void {
    const tokens = contextTokensOf(usage)
    if (tokens === 0) return
    this.#tokens = tokens
    this.#counted = index + 1
  }

  /** Returns the tokens of these messages as a prompt. */
  estimate(messages: readonly AgentMessage[]): number {
    return Math.max(this.#tokens + totalTokens(messages, this.#counter, this.#counted), this.#all.of(messages))
  }

  /** Discards recorded counts: everything is estimated again. */
  reset(): void {
    this.#tokens = 0
    this.#counted = 0
  }
}

/**
 * Returns whether `message` is a response that failed because the prompt was too long. Compact, then retry.
 *
 * Source: docs/concepts/context.md
 */
export function isContextOverflow(message: AgentMessage): boolean {
  if (message.role !== 'assistant' || message.stopReason !== 'error') return false
  return isContextOverflowText(message.errorMessage ?? '')
}

/** The estimate of one growing list. Lists are compared message by message, by reference. */
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

  /** Returns how many messages at the start are measured: all previous ones, or none. */
  unchanged(messages: readonly AgentMessage[]): number {
    const length = this.#length
    if (messages.length < length || (length > 0 && messages[length - 1] !== this.#last)) return 0
    // The same list has grown at its end. Another list may differ anywhere.
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

/** Tokens of one call's prompt and response, or 0 for a failed response, whose prompt may be incomplete. */
function countedTokens({ stopReason, usage }: Extract<AgentMessage, { role: 'assistant' }>): number {
  return stopReason === 'error' || stopReason === 'aborted' ? 0 : contextTokensOf(usage)
}

/**
 * Returns since when responses belong to the current view, in epoch milliseconds. The response of a compaction's turn comes after it, and
 * the response of a prune's or revert's turn comes before it. A response in the same millisecond does not count.
 */
function countedFrom({ overlay, prunes = [], reverts = [] }: ContextState): number {
  return Math.max(overlay?.createdAt ?? 0, 1 + (prunes.at(-1)?.at ?? 0), 1 + (reverts.at(-1)?.at ?? 0))
}
