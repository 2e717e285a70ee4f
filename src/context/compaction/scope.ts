import { type AgentMessage, loopIdOf } from '../../contract/message/message.ts'
import type { CompactionScope, TokenCounter } from '../../types/context/compaction.ts'
import type { ResolvedContext } from '../tokens/context-limits.ts'
import { messageTokens } from '../tokens/estimate.ts'
import { middleOf, type Outline, type Split } from './outline.ts'
import { removedCount } from './summary-lines.ts'

/** Messages to summarize. */
export interface MiddleTurns {
  /** Turns of loops in scope, oldest first. The first contains earlier summaries, if any. */
  turns: readonly (readonly AgentMessage[])[]
  /** Number of dropped messages: those from older loops, and those dropped by earlier compactions. */
  removed: number
  /** Loops with turns between the retained turns. */
  loops: number
}

/** Returns the turns between the turns that `split` retains, without loops out of scope and without earlier compaction markers. */
export function middleTurns(outline: Outline, split: Split, { compaction, maxContextTokens, counter }: ResolvedContext): MiddleTurns {
  const loops = loopsOf(outline.parts.flatMap((part) => part.messages))
  const loopOf = (message: AgentMessage) => loops.get(message) ?? ''
  const recent = new Set(outline.parts.slice(outline.parts.length - split.recent).flatMap((part) => part.messages.map(loopOf)))
  const scope = loopsInScope(loops, compaction.scope, { recent, maxContextTokens, counter })
  const compacted = new Set<string>()
  const turns: (readonly AgentMessage[])[] = []
  let removed = 0
  for (const part of middleOf(outline, split)) {
    const messages = part.messages.filter((message) => removedCount(message) === 0)
    for (const message of part.messages) removed += removedCount(message)
    // Keep an earlier summary, because it is short and is all that remains of loops out of scope.
    const isKept = part === outline.parts[outline.earlier] || messages.some((message) => scope.has(loopOf(message)))
    if (!isKept) removed += messages.length
    else if (messages.length > 0) turns.push(messages)
    for (const message of messages) compacted.add(loopOf(message))
  }
  return { turns, removed, loops: Math.max(1, compacted.size) }
}

/**
 * Returns each message's loop. For a message without `turnId`, uses the next message that has one, because a prompt belongs to its
 * response. At the end of the history, uses the previous message.
 */
function loopsOf(messages: readonly AgentMessage[]): Map<AgentMessage, string> {
  const loops = new Map<AgentMessage, string>()
  let loop = messages.map(loopIdOf).findLast((own) => own !== undefined) ?? ''
  for (const message of messages.toReversed()) {
    loop = loopIdOf(message) ?? loop
    loops.set(message, loop)
  }
  return loops
}

/** Limits for the scope. */
interface ScopeLimits {
  /** Loops of recent turns. These loops are always in scope and do not count toward the limit. */
  recent: ReadonlySet<string>
  maxContextTokens: number
  counter: TokenCounter
}

/**
 * Returns the loops to summarize: `count` loops before those of the recent turns, or as many as fit `maxContextTokens` with later ones. The
 * first that does not fit is the limit.
 */
function loopsInScope(
  loops: ReadonlyMap<AgentMessage, string>,
  scope: CompactionScope,
  { recent, maxContextTokens, counter }: ScopeLimits,
): ReadonlySet<string> {
  const newestFirst = new Map<string, number>()
  // In the order of `loopsOf`, from the end.
  for (const [message, loop] of loops) newestFirst.set(loop, (newestFirst.get(loop) ?? 0) + messageTokens(message, counter))
  const inScope = new Set<string>()
  let used = 0
  let older = 0
  for (const [loop, tokens] of newestFirst) {
    used += tokens
    const isRecent = recent.has(loop)
    if (!isRecent && scope.type === 'fixedCount' && older >= scope.count) break
    if (inScope.size > 0 && scope.type === 'tokenBudget' && used > maxContextTokens) break
    if (!isRecent) older += 1
    inScope.add(loop)
  }
  return inScope
}
