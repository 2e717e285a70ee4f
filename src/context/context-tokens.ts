import type { TokenCounter } from '../types/compaction.ts'
import type { ContextState } from '../types/context-change.ts'
import type { AgentMessage } from '../types/message.ts'
import { messageTokens } from './tokens.ts'

/**
 * Tokens of `view` as a prompt: what the service counted at its last answer, plus an estimate of what came since. Answers from before the
 * last change of `state` were made of something else and do not count.
 */
export function contextTokens(view: readonly AgentMessage[], state: ContextState, counter: TokenCounter): number {
  const changedAt = countedFrom(state)
  let tokens = 0
  for (let at = view.length - 1; at >= 0; at -= 1) {
    const message = view[at]
    if (message === undefined) continue
    const counted = message.role === 'assistant' && message.timestamp >= changedAt ? countedTokens(message) : 0
    if (counted > 0) return tokens + counted
    tokens += messageTokens(message, counter)
  }
  return tokens
}

/** Prompt and answer of one call; 0 for an answer that failed, whose prompt may not have been read to its end. */
function countedTokens({ stopReason, usage }: Extract<AgentMessage, { role: 'assistant' }>): number {
  if (stopReason === 'error' || stopReason === 'aborted') return 0
  return usage.input + usage.cacheRead + usage.cacheWrite + usage.output
}

/**
 * Since when answers were made of what is sent now, epoch ms. The answer of a compaction's turn comes after it, that of a prune's or
 * revert's turn before: within one millisecond it does not count.
 */
function countedFrom({ overlay, prunes = [], reverts = [] }: ContextState): number {
  return Math.max(overlay?.createdAt ?? 0, 1 + (prunes.at(-1)?.at ?? 0), 1 + (reverts.at(-1)?.at ?? 0))
}
