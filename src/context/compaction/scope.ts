import type { CompactionScope, TokenCounter } from '../../types/compaction.ts'
import type { AgentMessage } from '../../types/message.ts'
import { messageTokens } from '../tokens.ts'

/**
 * The loop each message belongs to: that of its `turnId`, else of the next message that has one, as a prompt belongs to what answers it; at
 * the end of the one before.
 */
export function loopsOf(messages: readonly AgentMessage[]): Map<AgentMessage, string> {
  const loops = new Map<AgentMessage, string>()
  let loop = messages.map(ownLoop).findLast((own) => own !== undefined) ?? ''
  for (const message of messages.toReversed()) {
    loop = ownLoop(message) ?? loop
    loops.set(message, loop)
  }
  return loops
}

/** What decides how far back a scope reaches. */
export interface ScopeLimits {
  /** Loops that recent turns belong to, which stay as they are: they are in scope, and do not count. */
  recent: ReadonlySet<string>
  maxContextTokens: number
  counter: TokenCounter
}

/**
 * The loops that are summarised: before those of the recent turns `count` of them, or as many as fit `maxContextTokens` together with what
 * came later. The first that does not fit ends it.
 *
 * Source: spec/14 "CompactionScope", reference/phi-core-0.10.md §3 row 20.
 */
export function loopsInScope(
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

function ownLoop(message: AgentMessage): string | undefined {
  return message.role === 'extension' ? undefined : message.turnId?.loopId
}
