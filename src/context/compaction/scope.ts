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

/**
 * The loops that are summarised: the present one, which is the last, and before it `count` of them, or as many as fit `maxContextTokens`
 * together with it. The first that does not fit ends it.
 *
 * Source: spec/14 "CompactionScope", reference/phi-core-0.10.md §3 row 20.
 */
export function loopsInScope(
  loops: ReadonlyMap<AgentMessage, string>,
  scope: CompactionScope,
  { maxContextTokens, counter }: { maxContextTokens: number; counter: TokenCounter },
): ReadonlySet<string> {
  const newestFirst = new Map<string, number>()
  // In the order of `loopsOf`, from the end.
  for (const [message, loop] of loops) newestFirst.set(loop, (newestFirst.get(loop) ?? 0) + messageTokens(message, counter))
  const inScope = new Set<string>()
  let used = 0
  for (const [loop, tokens] of newestFirst) {
    used += tokens
    const fits = scope.type === 'fixedCount' ? inScope.size <= scope.count : used <= maxContextTokens
    if (inScope.size > 0 && !fits) break
    inScope.add(loop)
  }
  return inScope
}

function ownLoop(message: AgentMessage): string | undefined {
  return message.role === 'extension' ? undefined : message.turnId?.loopId
}
